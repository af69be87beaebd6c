/**
 * The module of a file that was shared: it shows the result that its page holds.
 */
import { PARTS } from './load_part.js';
import { showShared } from './share/page.js';
import { TuningSection } from './tuning/section.js';

// a file can load nothing
PARTS['tuning-part'] = () => Promise.resolve({ TuningSection });

showShared(document);
