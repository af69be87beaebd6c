import { Dialog, showDialog } from '@jupyterlab/apputils';
import { ComparedRuns } from '../run_comparison.js';
import { IStream } from '../tokens.js';
import { TablePanel, type ITablePanelOptions } from './panel.js';

/**
 * Show the table of runs in the main area, or runs beside each other.
 *
 * @param names - Runs to compare, 2 or more; null: the table.
 */
export async function showMany(
  options: Omit<ITablePanelOptions, 'stream'>,
  names: unknown
): Promise<void> {
  const { app, texts } = options;
  const { shell } = app;
  const stream = await app.resolveRequiredService(IStream);
  const show = (id: string, make: () => TablePanel | ComparedRuns): void => {
    if (![...shell.widgets('main')].some(widget => widget.id === id)) {
      shell.add(make(), 'main', { type: 'smtc-lab' });
    }
    shell.activateById(id);
  };
  if (names === null) {
    show(TablePanel.id, () => new TablePanel({ ...options, stream }));
    return;
  }
  const given: readonly unknown[] = Array.isArray(names) ? names : [];
  const runs = [...new Set(given.filter(name => typeof name === 'string'))];
  if (runs.length < 2) {
    await showDialog({
      title: texts.__('Compare Runs'),
      body: texts.__(
        'Choose two runs or more in the table of runs, then compare them.'
      ),
      buttons: [Dialog.okButton()]
    });
    return;
  }
  show(ComparedRuns.idOf(runs), () => new ComparedRuns(stream, runs, texts));
}
