/**
 * The module that anywidget loads for a planned pipeline, and nothing else.
 */
import './styles/stages_index.css';
import { widgetOf, type IWidget } from './factory.js';
import { pipelinePicture } from './stages/picture.js';

export default function widget(): IWidget {
  return widgetOf(() => pipelinePicture);
}
