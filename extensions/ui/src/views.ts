import { ProtocolError } from '@smtc-lab/protocol';
import {
  clusterDesignerView,
  compilerSettingsView,
  instanceTypePickerView
} from './forms/views.js';
import { liveChart } from './live_chart.js';
import type { IView } from './model.js';
import { monitorOf } from './monitor/kinds.js';
import { planner } from './plan/planner.js';
import { workbench } from './workbench/workbench.js';

const MONITOR = /^([\w-]+)-monitor$/;
const VIEWS: Readonly<Record<string, IView>> = {
  'cluster-designer': clusterDesignerView,
  'compiler-settings': compilerSettingsView,
  'instance-type-picker': instanceTypePickerView,
  'live-chart': liveChart,
  planner,
  workbench
};

/**
 * Return a view by its name; `KIND-monitor` shows what goes on, of any kind.
 *
 * @throws {@link ProtocolError} when this front end does not have it.
 */
export function viewNamed(name: unknown): IView {
  const [, kind] = MONITOR.exec(String(name)) ?? [];
  const view = kind === undefined ? VIEWS[String(name)] : monitorOf(kind);
  if (view === undefined) {
    throw new ProtocolError(
      `There is no view ${JSON.stringify(name)}. ` +
        'Rebuild the front end and the Python package from one version.'
    );
  }
  return view;
}
