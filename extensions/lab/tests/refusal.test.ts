import { expect, it, vi } from 'vitest';
import { deleteRun } from '../src/delete.js';
import { stop } from '../src/stop.js';
import type { IStream } from '../src/tokens.js';
import { TEXTS } from './kit.js';

const { showDialog } = vi.hoisted(() => ({ showDialog: vi.fn() }));

vi.mock('@jupyterlab/apputils', () => ({
  // the real one needs a page
  Dialog: { okButton: () => ({ label: 'Ok' }) },
  Notification: { error: vi.fn() },
  showDialog
}));

const ADVICE = `Delete 'comparison-1'. ${'It has launches. '.repeat(99)}`;

it.each([
  ['deleted', deleteRun],
  ['stopped', stop]
])('what is not %s is told in a dialog, whole', async (done, act) => {
  showDialog.mockClear();
  const refusing = {
    request: async () => Promise.reject(new Error(ADVICE))
  } as unknown as IStream;

  await act(refusing, TEXTS, { name: 'run-1', kind: 'run' }, false);

  expect(showDialog).toHaveBeenCalledExactlyOnceWith({
    title: `run-1 could not be ${done}`,
    body: ADVICE,
    buttons: [{ label: 'Ok' }]
  });
});
