import type { IComparisonInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';

/**
 * The table of set-ups: one column each, in the colour that it has in all charts.
 */
export function setUpTable(): IPart<IComparisonInfo> {
  const region = h('div', {
    class: 'smtc-scroll',
    role: 'region',
    'aria-label': t('Table of set-ups'),
    tabindex: 0
  });
  return drawn(region, ({ setUps, rows }) =>
    setUps.length === 0
      ? []
      : [
          h(
            'table',
            { class: 'smtc-set-ups' },
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                h('td', {}),
                ...setUps.map(({ label }, place) =>
                  h('th', { scope: 'col' }, swatch(place), label)
                )
              )
            ),
            h(
              'tbody',
              {},
              ...rows.map(({ label, cells }) =>
                h(
                  'tr',
                  {},
                  h('th', { scope: 'row' }, label),
                  ...cells.map(lines =>
                    h(
                      'td',
                      { class: 'smtc-number' },
                      ...lines.map(line => h('div', {}, line))
                    )
                  )
                )
              )
            )
          )
        ]
  );
}

function swatch(place: number): HTMLElement {
  return h('span', {
    class: 'smtc-swatch',
    style: `background: var(--smtc-color-${place % 5})`,
    'aria-hidden': 'true'
  });
}
