import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { runsIcon } from './icon.js';

/**
 * A tab of ours in the main area: it takes the keyboard, and is gone once it is closed.
 */
export class MainTab extends Widget {
  constructor(id: string, label: string, caption = '') {
    super();
    this.id = id;
    this.addClass('jp-Smtc-main');
    Object.assign(this.title, {
      label,
      caption,
      icon: runsIcon,
      closable: true
    });
    this.node.tabIndex = -1;
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.focus();
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose();
  }
}
