import type { Catalog } from '@smtc-lab/protocol';
import type { IComponent } from './component.js';
import { Field, selectOf } from './field.js';
import { numberField, type INumberFieldProps } from './number_field.js';
import { NO_FILTERS, type IFilters } from './search.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

type Limit = Exclude<keyof IFilters, 'accelerator'>;

const RANGES: readonly (readonly [unit: string, from: Limit, to: Limit])[] = [
  ['vCPUs', 'minVcpus', 'maxVcpus'],
  ['GiB', 'minMemoryGib', 'maxMemoryGib'],
  ['USD/h', 'minUsd', 'maxUsd']
];

/**
 * Make the fields that narrow a list of instance types.
 *
 * @param onChange - Called with all filters when one changes.
 */
export function instanceFilters(
  catalog: Catalog,
  onChange: (filters: IFilters) => void
): HTMLElement {
  const element = h('div', {
    class: 'smtc-row smtc-filters',
    role: 'group',
    'aria-label': t('Filters')
  });
  let filters = NO_FILTERS;
  const change = (changed: Partial<IFilters>): void => {
    filters = { ...filters, ...changed };
    onChange(filters);
  };
  const select = selectOf(acceleratorsOf(catalog), accelerator => {
    change({ accelerator });
  });
  element.append(new Field(t('Accelerator'), select).element);
  const fields = RANGES.flatMap(([unit, from, to]) => {
    const pair = h('div', { class: 'smtc-pair' });
    element.append(pair);
    return [
      limitField(pair, t('%1 from', unit), t('%1 from', unit), value => {
        change({ [from]: value });
      }),
      limitField(pair, t('to'), t('%1 to', unit), value => {
        change({ [to]: value });
      })
    ];
  });
  const clear = button(t('Clear filters'), () => {
    select.value = '';
    fields.forEach(field => {
      field.update({ value: null });
    });
    change(NO_FILTERS);
  });
  element.append(clear);
  return element;
}

/**
 * Make a field for a limit, whose name says more than its label.
 */
function limitField(
  host: HTMLElement,
  label: string,
  name: string,
  onChange: (value: number | null) => void
): IComponent<INumberFieldProps> {
  const props = { label, value: null, min: 0, placeholder: t('any'), onChange };
  const field = numberField(host, props);
  field.element.querySelector('input')?.setAttribute('aria-label', name);
  return field;
}

function acceleratorsOf(
  catalog: Catalog
): readonly (readonly [string, string])[] {
  const names = new Set([...catalog.values()].map(type => type.accelerator));
  const named = [...names].filter(name => name !== null).sort();
  return [
    ['', t('any or none')],
    ['none', 'none'],
    ['any', 'any'],
    ...named.map(name => [name, name] as const)
  ];
}
