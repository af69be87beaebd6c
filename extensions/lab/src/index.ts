import { cellsPlugin } from './cells_plugin.js';
import { designerPlugin } from './designer/plugin.js';
import { lab } from './lab.js';
import { livePlugin } from './live/plugin.js';
import { stream } from './stream_plugin.js';

export default [stream, lab, designerPlugin, cellsPlugin, livePlugin];
