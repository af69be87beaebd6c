import type { LabIcon } from '@jupyterlab/ui-components';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRow } from '@smtc-lab/protocol';
import { isLive, type Kind } from './connection/row.js';
import { runsIcon } from './icon.js';
import type { Texts } from './texts.js';
import type { ILab } from './tokens.js';

/**
 * Names of our commands.
 */
export const COMMANDS = {
  show: 'smtc-lab:show-runs',
  open: 'smtc-lab:open',
  stop: 'smtc-lab:stop',
  delete: 'smtc-lab:delete',
  share: 'smtc-lab:share',
  design: 'smtc-lab:open-designer',
  insert: 'smtc-lab:insert-run',
  table: 'smtc-lab:table',
  compareRuns: 'smtc-lab:compare-runs'
} as const;

/**
 * Add the commands that begin with the list. Without arguments they mean the selected row.
 *
 * @param panelId - Of the list.
 */
export function addCommands(
  app: JupyterFrontEnd,
  lab: ILab,
  texts: Texts,
  panelId: string
): void {
  const { commands } = app;
  const icon = (args: { readonly isPalette?: unknown }): LabIcon | undefined =>
    args.isPalette ? undefined : runsIcon;
  const has = (args: object): boolean => meant(args, lab) !== null;
  const can =
    (isFit: typeof canStop) =>
    (args: { readonly name?: unknown }): boolean =>
      typeof args.name === 'string' || isFit(lab.selected);
  const on =
    (deed: 'open' | 'stop' | 'share' | 'delete') =>
    async (args: object): Promise<void> => {
      const what = meant(args, lab);
      if (what !== null) {
        await lab[deed](what.name, what.kind);
      }
    };
  commands.addCommand(COMMANDS.show, {
    label: texts.__('Training Runs'),
    caption: texts.__('Show the training runs and comparisons'),
    icon,
    execute: () => {
      app.shell.activateById(panelId);
    }
  });
  commands.addCommand(COMMANDS.table, {
    label: texts.__('Table of runs'),
    caption: texts.__('All runs in a table'),
    icon,
    execute: () => lab.showTable()
  });
  commands.addCommand(COMMANDS.compareRuns, {
    execute: args => lab.showTable(args['names'] ?? [])
  });
  commands.addCommand(COMMANDS.open, {
    label: texts.__('Open Run'),
    caption: texts.__('Show the dashboard of the selected run'),
    icon,
    isEnabled: has,
    execute: on('open')
  });
  commands.addCommand(COMMANDS.stop, {
    label: texts.__('Stop Run'),
    caption: texts.__('Stop the selected run, and all its instances'),
    isEnabled: can(canStop),
    execute: on('stop')
  });
  commands.addCommand(COMMANDS.share, {
    label: texts.__('Share Run'),
    caption: texts.__('Save the selected run as one HTML file'),
    isEnabled: has,
    execute: on('share')
  });
  commands.addCommand(COMMANDS.delete, {
    label: texts.__('Delete Run'),
    caption: texts.__('Delete the selected run, which has ended'),
    isEnabled: can(canDelete),
    execute: on('delete')
  });
}

/**
 * Whether a row can be stopped.
 */
export function canStop(row: IRow | null): boolean {
  return row !== null && isLive(row) && row.state !== 'Stopping';
}

/**
 * Whether a row can be deleted.
 */
export function canDelete(row: IRow | null): boolean {
  return row !== null && !isLive(row);
}

/**
 * Return what a command is about: what its arguments name, or the selected row.
 */
export function meant(
  args: { readonly name?: unknown; readonly kind?: unknown },
  lab: ILab
): { readonly name: string; readonly kind: Kind } | null {
  const { name, kind } = args;
  return typeof name === 'string'
    ? { name, kind: typeof kind === 'string' ? kind : 'run' }
    : lab.selected;
}
