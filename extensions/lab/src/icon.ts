import { LabIcon } from '@jupyterlab/ui-components';

/**
 * Two set-ups side by side, the second one faster.
 */
export const runsIcon = new LabIcon({
  name: 'smtc-lab:runs',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">' +
    '<g class="jp-icon3" fill="#616161">' +
    '<path d="M3 3h2v14h14v2H3z"/><path d="M7 9h3v6H7zM12 5h3v10h-3z"/>' +
    '</g></svg>'
});

/**
 * One large machine beside several small ones: what the designer puts side by side.
 */
export const designerIcon = new LabIcon({
  name: 'smtc-lab:designer',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">' +
    '<g class="jp-icon3" fill="#616161">' +
    '<path fill-rule="evenodd" d="M3 3h7v16H3zm2 2v12h3V5z"/>' +
    '<path d="M12 3h7v4h-7zM12 9h7v4h-7zM12 15h7v4h-7z"/>' +
    '</g></svg>'
});
