import { Dialog, showDialog } from '@jupyterlab/apputils';

/**
 * What is asked before something goes that does not come back by itself.
 */
export interface IQuestion {
  readonly title: string;
  readonly body: string;

  /**
   * What the buttons say: that leaves everything, and that does it.
   */
  readonly keep: string;
  readonly act: string;
}

/**
 * Ask the user, and return whether it is to be done.
 */
export async function isWanted(question: IQuestion): Promise<boolean> {
  const { title, body, keep, act } = question;
  const { button } = await showDialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: keep }),
      Dialog.warnButton({ label: act })
    ]
  });
  return button.accept;
}
