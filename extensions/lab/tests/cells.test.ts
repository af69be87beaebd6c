import type { INotebookTracker } from '@jupyterlab/notebook';
import { INSERT_EVENT } from '@smtc-lab/ui/forms/insert_event.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerInsertEvents, insertCell, runCell } from '../src/cells.js';

vi.mock('@jupyterlab/notebook', () => ({
  // the real one needs a page
  NotebookActions: { insertBelow: vi.fn() }
}));

function tracker(readOnly = false): [INotebookTracker, { source: string }] {
  const cell = { source: '' };
  const sharedModel = {
    setSource: (source: string) => {
      cell.source = source;
    }
  };
  const content = {
    model: { readOnly },
    activeCell: { model: { sharedModel } },
    activeCellIndex: 0,
    scrollToItem: vi.fn()
  };
  return [{ currentWidget: { content } } as unknown as INotebookTracker, cell];
}

const nobody = { currentWidget: null } as INotebookTracker;
const CODE = 'lab.Workbench()';

function asked(): Event {
  const event = new CustomEvent(INSERT_EVENT, {
    bubbles: true,
    cancelable: true,
    detail: { code: CODE }
  });
  document.body.dispatchEvent(event);
  return event;
}

let leave: () => void = () => undefined;

afterEach(() => {
  leave();
});

describe('the cell of a run', () => {
  it('opens a run or a comparison by its name', () => {
    expect(runCell('train-1', 'run')).toBe(
      "import smtc_lab as lab\n\nlab.Run.open('train-1')"
    );
    expect(runCell('a', 'comparison')).toContain("lab.ComparisonRun.open('a')");
  });

  it('opens a study of a kind that another package brings', () => {
    expect(runCell('a', 'repeat')).toBe(
      "from smtc_lab.study.study_run import StudyRun\n\nStudyRun.open('a')"
    );
  });

  it('is a text of Python, whatever the name is', () => {
    const code = runCell("'); import os; ('", 'run');

    expect(code).toContain('lab.Run.open("\'); import os; (\'")');
  });
});

describe('a button that inserts a cell', () => {
  it('puts its code into the notebook, and knows that it was taken', () => {
    const [notebooks, cell] = tracker();
    leave = answerInsertEvents(notebooks);

    expect(asked().defaultPrevented).toBe(true);
    expect(cell.source).toBe(CODE);
  });

  it('knows that nobody took it where there is no notebook', () => {
    leave = answerInsertEvents(nobody);

    expect(asked().defaultPrevented).toBe(false);
  });

  it('changes nothing in a notebook that may not be changed', () => {
    const [notebooks, cell] = tracker(true);

    expect(insertCell(notebooks, CODE)).toBe(false);
    expect(cell.source).toBe('');
  });
});
