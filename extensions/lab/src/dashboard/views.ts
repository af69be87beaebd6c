import { PARTS } from '@smtc-lab/ui/load_part.js';
import type { IView } from '@smtc-lab/ui/model.js';
import { TuneBox, TuningSection } from '@smtc-lab/ui/tuning.js';
import { viewNamed as viewOf } from '@smtc-lab/ui/views.js';
import '@smtc-lab/ui/styles/index.css';

/**
 * Return a view by its name, and have at hand what widgets have sent by their kernel.
 */
export function viewNamed(name: string): IView {
  PARTS['tuning-part'] = () => Promise.resolve({ TuneBox, TuningSection });
  return viewOf(name);
}
