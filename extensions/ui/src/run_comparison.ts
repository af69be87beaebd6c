/**
 * The module that anywidget loads for compared runs, and nothing else.
 */
import './styles/run_comparison_index.css';
import { widgetOf, type IWidget } from './factory.js';
import { runComparison } from './run_comparison/view.js';

export default function widget(): IWidget {
  return widgetOf(() => runComparison);
}
