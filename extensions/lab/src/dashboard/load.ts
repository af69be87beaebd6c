export { deleteRun } from '../delete.js';
export { share } from '../share.js';
export { stop } from '../stop.js';
export { showMany } from '../table/show.js';
export { Dashboard } from './dashboard.js';
