import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { h } from '@smtc-lab/ui/dom.js';
import { priceNow, type IPriceNow } from './connection/price.js';
import { numLive } from './connection/row.js';
import { priceWords } from './price_words.js';
import type { Texts } from './texts.js';
import type { IRuns } from './tokens.js';
import './price_item.css';

const TWO_DIGITS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 4
});

/**
 * What runs now and its price per hour, in the status bar; nothing while nothing runs.
 */
export class PriceItem extends Widget {
  constructor(
    private readonly _runs: IRuns,
    private readonly _texts: Texts,
    show: () => void
  ) {
    super();
    this.addClass('jp-Smtc-price');
    this._button = h('button', {
      type: 'button',
      // looks as the other items of the bar
      class: 'jp-StatusBar-TextItem',
      style: 'border:0;background:none;cursor:pointer',
      onclick: show
    });
    this.node.append(this._button);
    _runs.changed.connect(this._update);
  }

  /**
   * A signal emitted when there is something to show, or nothing any more.
   */
  readonly activeChanged = new Signal<this, void>(this);

  get isActive(): boolean {
    return this._isWanted && this._numLive > 0;
  }

  /**
   * Show it, or never.
   */
  want(isWanted: boolean): void {
    this._isWanted = isWanted;
    if (isWanted) {
      this._follow ??= this._runs.follow();
    } else {
      this._follow?.dispose();
      this._follow = null;
    }
    this._update();
  }

  override dispose(): void {
    this.want(false);
    this._runs.changed.disconnect(this._update);
    Signal.clearData(this);
    super.dispose();
  }

  private readonly _update = (): void => {
    const { rows } = this._runs;
    this._numLive = numLive(rows);
    const price = priceNow(rows);
    this.node.toggleAttribute('data-is-billed', price.isBilled === true);
    this._button.title =
      `${this._billing(price)} ${this._texts.__('Show the training runs. List prices; see each run.')}`.trim();
    const words = this._texts.__(
      '%1 running · %2',
      this._numLive,
      this._price(price)
    );
    if (this._button.textContent !== words) {
      this._button.textContent = words;
    }
    if (this._wasActive !== this.isActive) {
      this._wasActive = this.isActive;
      this.activeChanged.emit();
    }
  };

  private _billing({ isBilled }: IPriceNow): string {
    return isBilled === null
      ? ''
      : isBilled
        ? this._texts.__('What runs is billed until it ends or is stopped.')
        : this._texts.__('It runs on this machine: nothing is billed.');
  }

  private _price(price: IPriceNow): string {
    const { isBilled, usdPerHour, numKnown, numUnknown } = price;
    const usd = isBilled ? price.billedUsdPerHour : usdPerHour;
    const plain = `$${TWO_DIGITS.format(usd)}/h`;
    const known = priceWords(plain, isBilled, this._texts);
    if (!numKnown) {
      return isBilled === false
        ? this._texts.__('nothing is billed')
        : this._texts.__('price unknown');
    }
    return numUnknown
      ? this._texts.__('%1, %2 of unknown price', known, numUnknown)
      : known;
  }

  private readonly _button: HTMLButtonElement;
  private _follow: IDisposable | null = null;
  private _isWanted = false;
  private _wasActive = false;
  private _numLive = 0;
}
