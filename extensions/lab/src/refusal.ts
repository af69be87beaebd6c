import { Dialog, showDialog } from '@jupyterlab/apputils';

/**
 * Show why something was not done, with its whole text, until the user closes it: a notification
 * is cut, and where notifications are off nobody sees it.
 *
 * @param title - What was not done.
 * @param error - What refused it; its message tells what to do.
 */
export async function showRefusal(
  title: string,
  error: unknown
): Promise<void> {
  await showDialog({
    title,
    body: error instanceof Error ? error.message : String(error),
    buttons: [Dialog.okButton()]
  });
}
