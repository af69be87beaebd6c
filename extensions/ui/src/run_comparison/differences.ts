import type { IComparedRun, IRunComparison } from '@smtc-lab/protocol';
import { bounded } from '../bounded.js';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { setUpMark } from '../picture/set_up_mark.js';
import { QUANTITIES, runWords, shortName } from './words.js';

const SECTIONS: Readonly<Record<string, string>> = {
  job: mark('job'),
  code: mark('code'),
  packages: mark('packages'),
  machine: mark('machine'),
  prices: mark('prices')
};

const MOST_METRICS = 10;

/**
 * Return the table of what differs, and what is known of each run: a column for each.
 */
export function differencesTable(compared: IRunComparison): HTMLElement {
  const { runs, differences } = compared;
  const rows = differences.map(({ section, name, values }) =>
    row(t(SECTIONS[section] ?? section), shortName(name), values)
  );
  const facts = [...QUANTITIES].map(([name, [words, unit]]) =>
    row(
      t('result'),
      t(words),
      runs.map(({ numbers }) => {
        const value = numbers.get(name);
        return value === undefined ? t('unknown') : format(value, unit);
      })
    )
  );
  const logged = compared.metrics.slice(0, MOST_METRICS).map(name =>
    row(
      t('last value'),
      name,
      runs.map(({ numbers }) => {
        const value = numbers.get(`metric.${name}`);
        return value === undefined ? t('unknown') : format(value, 'number');
      })
    )
  );
  const states = runs.map(({ texts }) => t(texts.get('state') ?? 'unknown'));
  return h(
    'table',
    {},
    h('caption', {}, t('What differs, and what came out')),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, t('part')),
        h('th', { scope: 'col' }, t('name')),
        ...runs.map(head)
      )
    ),
    h(
      'tbody',
      {},
      ...rows,
      row(t('result'), t('state'), states),
      ...facts,
      ...logged
    )
  );
}

function head(run: IComparedRun, place: number): HTMLElement {
  return h(
    'th',
    { scope: 'col', title: run.name },
    setUpMark(place),
    ` ${runWords(run, place)}`
  );
}

function row(
  section: string,
  name: string,
  values: readonly string[]
): HTMLElement {
  return h(
    'tr',
    {},
    h('td', { class: 'smtc-note' }, section),
    h('th', { scope: 'row' }, ...bounded(name)),
    ...values.map(value => h('td', {}, ...bounded(value)))
  );
}
