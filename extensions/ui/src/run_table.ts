/**
 * The module that anywidget loads for the table of runs, and nothing else.
 */
import './styles/run_table_index.css';
import { widgetOf, type IWidget } from './factory.js';
import { runTable } from './run_table/view.js';

export default function widget(): IWidget {
  return widgetOf(() => runTable);
}
