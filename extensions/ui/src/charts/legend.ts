import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { ISeries } from './options.js';
import { paintSample } from './paint.js';
import { SvgPen } from './svg_pen.js';
import { paletteColor, partPalettes, type ITheme } from './theme.js';

const WIDTH = 28;
const HEIGHT = 12;

/**
 * The colours are those of the page whenever it is shown: no need to draw it anew.
 */
const THEME: ITheme = {
  ink: 'var(--smtc-ink)',
  muted: 'var(--smtc-muted)',
  paper: 'var(--smtc-paper)',
  grid: 'var(--smtc-grid)',
  shade: 'var(--smtc-shade)',
  font: 'inherit',
  colors: [0, 1, 2, 3, 4].map(paletteColor),
  parts: partPalettes()
};

/**
 * Names of the series and what they look like; each hides its series and shows it again.
 */
export class Legend {
  readonly element = h('div', {
    class: 'smtc-chart-legend',
    role: 'group',
    'aria-label': t('Series')
  });

  /**
   * @param toggle - Called with a series that is to be hidden, or to be shown again.
   */
  constructor(private readonly _toggle: (series: ISeries) => void) {}

  /**
   * Leave out the series whose names stand elsewhere.
   */
  leaveOut(series: readonly ISeries[]): void {
    for (const [each, button] of this._buttons) {
      const isLeftOut = series.includes(each);
      if (button.hidden !== isLeftOut) {
        button.hidden = isLeftOut; // else the page would be laid out for nothing
      }
    }
  }

  /**
   * Add a series.
   */
  add(series: ISeries): void {
    const pen = new SvgPen(WIDTH, HEIGHT, THEME.font);
    const box = { left: 0, top: 0, width: WIDTH, height: HEIGHT };
    paintSample(pen, series, box, THEME);
    pen.svg.setAttribute('aria-hidden', 'true');
    const button = h(
      'button',
      {
        type: 'button',
        'aria-pressed': 'true',
        title: t('Hide this series, or show it again'),
        onclick: () => {
          const isShown = button.getAttribute('aria-pressed') === 'true';
          button.setAttribute('aria-pressed', String(!isShown));
          this._toggle(series);
        }
      },
      pen.svg,
      h('span', { class: 'smtc-chart-name' }, series.label),
      ' ', // not seen, but heard
      h('span', { class: 'smtc-chart-evidence' }, t(series.evidence))
    );
    this._buttons.set(series, button);
    this.element.append(button);
  }

  private readonly _buttons = new Map<ISeries, HTMLElement>();
}
