import type { IComparisonInfo, ILaunchInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { section } from '../run/section.js';
import type { IPart } from './part.js';

/**
 * The launches so far, folded away.
 */
export class LaunchList implements IPart {
  readonly element: HTMLElement;

  constructor() {
    const { element, body } = section(t('Launches'), false);
    body.append(
      h('div', { class: 'smtc-scroll' }, h('table', {}, head(), this._body))
    );
    this.element = element;
  }

  update(info: IComparisonInfo): void {
    this._body.replaceChildren(...info.launched.map(row));
  }

  dispose(): void {
    this.element.remove();
  }

  private readonly _body = h('tbody', {});
}

function head(): HTMLElement {
  const words = [
    t('Set-up'),
    t('Round'),
    t('State'),
    t('Steps'),
    t('Name of the run')
  ];
  return h(
    'thead',
    {},
    h('tr', {}, ...words.map(word => h('th', { scope: 'col' }, word)))
  );
}

function row(launch: ILaunchInfo): HTMLElement {
  const round =
    launch.round === null ? t('parity check') : format(launch.round, 'count');
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, launch.label),
    h('td', {}, round),
    h('td', {}, launch.state),
    h('td', { class: 'smtc-number' }, format(launch.steps, 'count')),
    h('td', {}, h('code', {}, launch.jobName))
  );
}
