/**
 * The module that anywidget loads: it shows the view that the model names.
 */
import './styles/index.css';
import { widgetOf, type IWidget } from './factory.js';
import { viewNamed } from './views.js';

export default function widget(): IWidget {
  return widgetOf(viewNamed);
}
