export { panelActions } from './actions.js';
export { PanelContent } from './content.js';
