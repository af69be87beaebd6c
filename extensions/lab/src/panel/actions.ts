import type { JupyterFrontEnd } from '@jupyterlab/application';
import { canDelete, canStop, COMMANDS } from '../commands.js';
import type { IRow } from '@smtc-lab/protocol';
import type { Texts } from '../texts.js';

/**
 * What can be done with the selected row, or without one.
 */
export interface IAction {
  readonly label: string;

  /**
   * The same in a sentence.
   */
  readonly caption: string;
  readonly run: () => void;

  /**
   * Whether it can be done with what is selected.
   */
  readonly canRun: (row: IRow | null) => boolean;

  /**
   * Whether it is offered at all.
   */
  readonly isOffered: (row: IRow | null) => boolean;
}

/**
 * Return the buttons of the panel; those of commands that there are.
 */
export function panelActions(
  app: JupyterFrontEnd,
  texts: Texts
): readonly IAction[] {
  const { commands } = app;
  const action = (
    label: string,
    command: string,
    canRun: IAction['canRun'],
    isOffered: IAction['canRun'] = () => true
  ): readonly IAction[] =>
    commands.hasCommand(command)
      ? [
          {
            label,
            caption: commands.caption(command),
            canRun,
            isOffered,
            run: () => void commands.execute(command)
          }
        ]
      : [];
  return [
    ...action(texts.__('New …'), COMMANDS.design, () => true),
    ...action(texts.__('Table'), COMMANDS.table, () => true),
    ...action(texts.__('Open'), COMMANDS.open, row => row !== null),
    ...action(texts.__('Insert'), COMMANDS.insert, row => row !== null),
    ...action(texts.__('Share'), COMMANDS.share, row => row !== null),
    ...action(texts.__('Stop'), COMMANDS.stop, canStop, row => !canDelete(row)),
    ...action(texts.__('Delete'), COMMANDS.delete, canDelete, canDelete)
  ];
}
