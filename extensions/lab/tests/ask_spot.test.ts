import { describe, expect, it, vi } from 'vitest';
import { askSpot } from '../src/designer/ask_spot.js';

const QUESTION = { asked: 'q-1', job: {} };

describe('a question about spot instances', () => {
  it('goes to the server, and its answer to the model', async () => {
    const request = vi.fn(async () => Promise.resolve({ asked: 'q-1' }));
    const set = vi.fn();

    await askSpot({ set }, { request }, QUESTION, String);

    expect(request).toHaveBeenCalledWith('spot-forecast', QUESTION);
    expect(set).toHaveBeenCalledWith('spot_answer', { asked: 'q-1' });
  });

  it('is answered with why no answer comes', async () => {
    const request = async (): Promise<never> =>
      Promise.reject(new Error('no server'));
    const set = vi.fn();

    await askSpot({ set }, { request }, QUESTION, () => 'No server.');

    expect(set).toHaveBeenCalledWith('spot_answer', {
      version: 1,
      asked: 'q-1',
      problem: 'No server.'
    });
  });
});
