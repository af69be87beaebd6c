/**
 * The module that a host sends when a search of hyperparameters is shown.
 */
export { TuningSection } from './tuning/section.js';
