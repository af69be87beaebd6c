import { parseFrame } from '@smtc-lab/protocol';
import { expect, it } from 'vitest';
import fixture from '../../../tests/fixtures/frames.json';
import { History } from '../src/live/history.js';

it.each(['from_begin', 'late'] as const)(
  'has the bins that Python has of the same rows (%s)',
  name => {
    const { frames, bins } = fixture[name];
    const history = new History(2, fixture.most_bins);
    for (const { content, buffers } of frames) {
      const views = buffers.map(text => {
        const bytes = Uint8Array.from(atob(text), letter =>
          letter.charCodeAt(0)
        );
        return new DataView(bytes.buffer);
      });
      const frame = parseFrame(content, views);
      if (frame.type === 'reset') {
        history.reset(frame.bins, frame.rows.first);
      }
      history.append(frame.rows.values);
    }

    const ours = history.before(history.numRows);

    expect(ours.width).toBe(bins.width);
    for (const kind of ['low', 'high', 'mean'] as const) {
      const columns = ours[kind].map(column =>
        Array.from(column, value => (Number.isNaN(value) ? null : value))
      );
      expect(columns).toEqual(bins[kind]);
    }
  }
);
