/**
 * The module of a file that was shared: it shows the result that its page holds.
 */
import { showShared } from './share/page.js';

showShared(document);
