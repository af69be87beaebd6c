import { DisposableDelegate } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PriceItem } from '../src/price_item.js';
import type { IRuns } from '../src/tokens.js';
import { row, TEXTS } from './kit.js';

vi.hoisted(() => {
  // what Lumino's widgets ask of a page when they are loaded
  Object.assign(globalThis, { DragEvent: Event });
});

describe('the price in the status bar', () => {
  const dear = row({ name: 'dear', usdPerHour: 3.5 });
  const here = row({ name: 'here', usdPerHour: 2, isBilled: false });
  const local = row({ name: 'local', usdPerHour: null, isBilled: false });
  const paid = row({ name: 'paid', usdPerHour: 12, isBilled: true });
  const unknown = row({ name: 'unknown', usdPerHour: null });
  const ended = row({ name: 'ended', state: 'Completed', usdPerHour: null });
  const items: PriceItem[] = [];

  afterEach(() => {
    items.splice(0).forEach(item => {
      item.dispose();
    });
  });

  it.each([
    [[dear], '1 running · $3.50/h'],
    [[dear, unknown], '2 running · $3.50/h, 1 of unknown price'],
    [[unknown, ended], '1 running · price unknown'],
    [[local], '1 running · nothing is billed'],
    [[local, here], '2 running · would cost $2.00/h'],
    [[local, unknown], '2 running · price unknown'],
    [[here], '1 running · would cost $2.00/h'],
    [[here, paid], '2 running · $12.00/h is billed']
  ])('is told as far as it is known', (rows, words) => {
    const runs: IRuns = {
      rows,
      isReady: true,
      usdPerHourNow: null,
      problem: '',
      changed: new Signal<object, void>({}) as unknown as IRuns['changed'],
      follow: () => new DisposableDelegate(() => undefined)
    };
    const item = new PriceItem(runs, TEXTS, () => undefined);
    items.push(item);

    item.want(true);

    expect(item.node.textContent).toBe(words);
    expect(item.node.hasAttribute('data-is-billed')).toBe(rows.includes(paid));
  });
});
