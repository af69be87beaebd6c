export { deleteRun } from '../delete.js';
export { stop } from '../stop.js';
export { Dashboard } from './dashboard.js';
