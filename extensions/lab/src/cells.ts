import type { INotebookTracker } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import { pythonRepr } from '@smtc-lab/protocol';
import {
  INSERT_EVENT,
  type IInsertDetail
} from '@smtc-lab/ui/forms/insert_event.js';
import { openerOf } from '@smtc-lab/ui/monitor/openers.js';
import type { Kind } from './connection/row.js';

/**
 * The cell that shows the workbench.
 */
export const WORKBENCH_CELL = 'import smtc_lab as lab\n\nlab.Workbench()';

/**
 * Return the cell that shows what goes on, of any kind.
 */
export function runCell(name: string, kind: Kind): string {
  const [imports, opens] = openerOf(kind);
  return `${imports}\n\n${opens}.open(${pythonRepr(name)})`;
}

/**
 * Put a code cell below the active one of the notebook that was used last.
 *
 * @returns False: there is no notebook, and nothing was done.
 */
export function insertCell(tracker: INotebookTracker, code: string): boolean {
  const notebook = tracker.currentWidget?.content;
  if (notebook?.model == null || notebook.model.readOnly) {
    return false;
  }
  NotebookActions.insertBelow(notebook);
  notebook.activeCell?.model.sharedModel.setSource(code);
  void notebook.scrollToItem(notebook.activeCellIndex);
  return true;
}

/**
 * Let views insert cells: their buttons ask the page by an event.
 *
 * @returns What to call to end it.
 */
export function answerInsertEvents(tracker: INotebookTracker): () => void {
  const answer = (event: Event): void => {
    const { code } = (event as CustomEvent<IInsertDetail>).detail;
    if (insertCell(tracker, code)) {
      event.preventDefault();
    }
  };
  document.addEventListener(INSERT_EVENT, answer);
  return () => {
    document.removeEventListener(INSERT_EVENT, answer);
  };
}
