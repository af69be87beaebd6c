import { ProtocolError } from '@smtc-lab/protocol';
import { comparisonMonitor } from './comparison/monitor.js';
import {
  clusterDesignerView,
  compilerSettingsView,
  instanceTypePickerView
} from './forms/views.js';
import { liveChart } from './live_chart.js';
import type { IView } from './model.js';
import { planner } from './plan/planner.js';
import { runMonitor } from './run/run_monitor.js';
import { workbench } from './workbench/workbench.js';

const VIEWS: Readonly<Record<string, IView>> = {
  'comparison-monitor': comparisonMonitor,
  'cluster-designer': clusterDesignerView,
  'compiler-settings': compilerSettingsView,
  'instance-type-picker': instanceTypePickerView,
  'live-chart': liveChart,
  planner,
  'run-monitor': runMonitor,
  workbench
};

/**
 * Return a view by its name.
 *
 * @throws {@link ProtocolError} when this front end does not have it.
 */
export function viewNamed(name: unknown): IView {
  const view = typeof name === 'string' ? VIEWS[name] : undefined;
  if (view === undefined) {
    throw new ProtocolError(
      `There is no view ${JSON.stringify(name)}. ` +
        'Rebuild the front end and the Python package from one version.'
    );
  }
  return view;
}
