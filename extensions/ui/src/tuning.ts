/**
 * The module that a host sends when a search of hyperparameters is shown, or asked for.
 */
export { TuningSection } from './tuning/section.js';
export { TuneBox } from './tuning/tune_box.js';
