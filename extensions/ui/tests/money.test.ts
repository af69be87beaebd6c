import { readWire, type IComparisonInfo } from '@smtc-lab/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import waits from '../../../tests/fixtures/causes.json';
import fixture from '../../../tests/fixtures/comparison_info.json';
import { CAUSES } from '../src/study/money/causes.js';
import { Money } from '../src/study/money/money.js';
import { buttonIn } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';

const info = readWire('ComparisonInfo', fixture);

let money: Money;

function shown(change: Partial<IComparisonInfo> = {}): HTMLElement {
  money.update({ ...info, ...change });
  return money.element;
}

function texts(selector: string): (string | null)[] {
  return [...money.element.querySelectorAll(selector)].map(
    each => each.textContent
  );
}

beforeEach(() => {
  money = new Money();
  document.body.replaceChildren(money.element);
});

describe('causes', () => {
  it('are those of the server, and look like waiting where it says so', () => {
    const hatched: Record<string, boolean> = {};
    for (const [cause, { filling }] of Object.entries(CAUSES)) {
      hatched[cause] = ['hatched', 'crossed'].includes(filling);
    }

    expect(hatched).toEqual(waits);
  });
});

describe('where the money goes', () => {
  it('is a bar for each set-up, as long as its cost, with what is for waiting', () => {
    const bars = shown({ launchCost: [] }).querySelectorAll('.smtc-money-bar');

    const widths = [...(bars[0]?.querySelectorAll('rect') ?? [])].map(rect =>
      parseFloat(rect.getAttribute('width') ?? '')
    );
    expect(widths).toEqual([12.5, 75, 12.5]);
    expect(texts('.smtc-money-row strong')).toEqual(['$0.20', '']);
    expect(texts('.smtc-money-row p')).toEqual([
      '$0.175 of it for waiting, 87.5 %',
      'unknown: a price is unknown'
    ]);
    expect(bars[0]?.getAttribute('aria-label')).toBe(
      'A homogeneous: $0.20, compute $0.025, wait for data $0.15, idle for ' +
        'other reasons $0.025, $0.175 of it for waiting, 87.5 %'
    );
  });

  it('hatches what is paid for waiting, and nothing else', () => {
    shown({ launchCost: [] });

    const isHatched = [
      ...money.element.querySelectorAll('.smtc-money-bar rect')
    ].map(rect => (rect.getAttribute('style') ?? '').includes('url(#'));
    expect(isHatched).toEqual([false, true, true]);
    expect(texts('.smtc-money-key > span:first-child')).toEqual([
      'training instances'
    ]);
  });

  it('promises no more than is known', () => {
    const part = { setUp: 0, usdPer1000Steps: 0.1 };
    shown({
      stepsCost: [
        { ...part, cause: 'data_wait', isWaiting: true },
        { ...part, cause: 'step', isWaiting: false }
      ]
    });

    expect(texts('.smtc-money-row p')[0]).toBe(
      'at least $0.10 of it for waiting, 50 %'
    );
  });

  it('says that a set-up has not run, and nothing of an older result', () => {
    shown({ stepsCost: [], launchCost: [] });
    expect(texts('.smtc-money-row p')[0]).toBe('has not run');

    expect(shown({ stepsCost: [], ended: true }).hidden).toBe(true);
    const setUps = info.setUps.map(each => ({ ...each, usdPerHour: null }));
    expect(shown({ setUps }).hidden).toBe(true);
  });

  it('shows whole launches apart, as they are on another scale', () => {
    shown();

    expect(texts('.smtc-chart-label')).toEqual([
      'USD per 1,000 steps by cause; hatched: paid for, but waiting',
      'USD of one launch by cause'
    ]);
    expect(texts('.smtc-money-row strong').at(-1)).toBe('$0.02');
  });

  it('becomes a table with every part', () => {
    shown();
    buttonIn(money.element, 'Table').click();

    const rows = [...money.element.querySelectorAll('tbody tr')].map(row =>
      [...row.children].map(cell => cell.textContent)
    );
    expect(rows).toHaveLength(4);
    expect(rows[1]).toEqual([
      ...['A homogeneous', '1,000 steps', 'training instances'],
      ...['wait for data', '$0.15', 'waiting']
    ]);
    expect(
      money.element.querySelector<HTMLElement>('.smtc-money-bars')?.hidden
    ).toBe(true);
  });

  it('never makes markup of a name', () => {
    const named = (label: string): void => {
      shown({ setUps: info.setUps.map(each => ({ ...each, label })) });
    };
    named('plain');
    const usual = markupOf(money.element);

    HOSTILE.forEach(named);

    expect(markupOf(money.element)).toEqual(usual);
  });
});
