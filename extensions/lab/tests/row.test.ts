import { describe, expect, it } from 'vitest';
import { priceNow } from '../src/connection/price.js';
import { numLive } from '../src/connection/row.js';
import { row } from './kit.js';

describe('how much goes on', () => {
  const study = row({ name: 'c', kind: 'comparison', newestRun: 'c-2' });
  const ended = row({ name: 'c-1', state: 'Completed' });

  it('counts a study and its launch as one', () => {
    expect(numLive([study, ended, row({ name: 'c-2' })])).toBe(1);
  });

  it('counts runs of their own beside it, and it between two launches', () => {
    expect(numLive([study, row({ name: 'other' })])).toBe(2);
  });

  it('counts a launch that outlives its study', () => {
    const over = { ...study, state: 'Failed' } as const;

    expect(numLive([over, row({ name: 'c-2' })])).toBe(1);
  });
});

describe('what all that goes on costs', () => {
  const dear = row({ name: 'dear', usdPerHour: 3.5 });
  const unknown = row({ name: 'unknown', usdPerHour: null });
  const ended = row({ name: 'ended', state: 'Completed', usdPerHour: null });

  it('has the launch of a study once, and nothing that has ended', () => {
    const study = row({ name: 'c', kind: 'comparison', newestRun: 'dear' });

    expect(priceNow([study, dear, ended])).toEqual({
      usdPerHour: 3.5,
      isBilled: null,
      billedUsdPerHour: 0,
      numKnown: 1,
      numUnknown: 0
    });
  });

  it('says how many runs have no price', () => {
    expect(priceNow([dear, unknown, ended])).toEqual({
      usdPerHour: 3.5,
      isBilled: null,
      billedUsdPerHour: 0,
      numKnown: 1,
      numUnknown: 1
    });
  });

  it('is billed where any run is, and only for what is known to be', () => {
    const paid = row({ name: 'paid', usdPerHour: 12, isBilled: true });
    const here = row({ name: 'here', usdPerHour: 2, isBilled: false });

    expect(priceNow([paid, here, dear])).toMatchObject({
      isBilled: true,
      billedUsdPerHour: 12
    });
    expect(priceNow([here]).isBilled).toBe(false);
    expect(priceNow([here, dear]).isBilled).toBeNull();
  });
});
