import { button, h } from '../dom.js';

/**
 * One button of a toolbar.
 */
export interface ITool {
  /**
   * What it does; its name for those who do not see it.
   */
  readonly name: string;

  /**
   * What stands on it.
   */
  readonly sign: string;

  readonly act: () => void;

  /**
   * For a button that stays pressed: whether it is now.
   */
  readonly isPressed?: () => boolean;

  /**
   * Whether it cannot be used now.
   */
  readonly isOff?: () => boolean;

  /**
   * Whether it is not there now.
   */
  readonly isHidden?: () => boolean;
}

/**
 * A row of buttons that is one stop of the tab key; left and right go from one to the next.
 */
export class Toolbar {
  readonly element: HTMLElement;

  /**
   * @param label - What the buttons are for.
   */
  constructor(label: string, tools: readonly ITool[]) {
    this._tools = tools.map(tool => ({
      tool,
      button: button(
        tool.sign,
        () => {
          tool.act();
          this.update();
        },
        { title: tool.name, 'aria-label': tool.name }
      )
    }));
    this.element = h(
      'div',
      {
        class: 'smtc-chart-tools',
        role: 'toolbar',
        'aria-label': label,
        onkeydown: (event: KeyboardEvent) => {
          this._move(event);
        },
        onfocusin: (event: FocusEvent) => {
          this._stopAt(event.target);
        }
      },
      ...this._tools.map(({ button }) => button)
    );
    this.update();
  }

  /**
   * Show which buttons are pressed, and which can be used.
   */
  update(): void {
    for (const { tool, button } of this._tools) {
      button.hidden = tool.isHidden?.() ?? false;
      // a disabled button would lose the focus
      button.setAttribute('aria-disabled', String(tool.isOff?.() ?? false));
      if (tool.isPressed !== undefined) {
        button.setAttribute('aria-pressed', String(tool.isPressed()));
      }
    }
    const seen = this._seen();
    if (!seen.some(button => button.tabIndex === 0)) {
      this._stopAt(seen[0] ?? null);
    }
  }

  private _move(event: KeyboardEvent): void {
    const buttons = this._seen();
    const place = buttons.findIndex(button => button === event.target);
    const next = {
      ArrowLeft: place - 1,
      ArrowRight: place + 1,
      Home: 0,
      End: buttons.length - 1
    }[event.key];
    if (next !== undefined && place >= 0) {
      event.preventDefault();
      buttons[(next + buttons.length) % buttons.length]?.focus();
    }
  }

  private _stopAt(target: EventTarget | null): void {
    for (const { button } of this._tools) {
      button.tabIndex = button === target ? 0 : -1;
    }
  }

  private _seen(): HTMLButtonElement[] {
    return this._tools
      .map(({ button }) => button)
      .filter(button => !button.hidden);
  }

  private readonly _tools: readonly {
    readonly tool: ITool;
    readonly button: HTMLButtonElement;
  }[];
}
