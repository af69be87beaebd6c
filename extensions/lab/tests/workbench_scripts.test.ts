import { parseScripts } from '@smtc-lab/protocol';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import wire from '../../../tests/fixtures/scripts.json';
import { RequestError } from '../src/connection/request_error.js';
import { WorkbenchModel } from '../src/designer/workbench_model.js';
import type { IStream } from '../src/tokens.js';

const texts = { __: (text: string) => text, _n: (text: string) => text };

describe('the scripts of a workbench without a kernel', () => {
  const asked = vi.fn<(body: unknown) => unknown>();
  let model: WorkbenchModel;

  beforeEach(async () => {
    asked.mockReset();
    const stream = {
      request: async (path: string, body?: unknown): Promise<unknown> =>
        Promise.resolve(
          path === 'scripts'
            ? asked(body)
            : path === 'catalog'
              ? []
              : { value: [], problems: [] }
        )
    };
    model = await WorkbenchModel.open(
      stream as unknown as IStream,
      3,
      null,
      '',
      texts
    );
  });

  const offered = async (folder: string): Promise<unknown> => {
    const told = new Promise(resolve => {
      model.on('change:scripts', () => {
        resolve(model.get('scripts'));
      });
    });
    model.send({ type: 'scripts', folder });
    return told;
  };

  it('are those that the server tells', async () => {
    asked.mockReturnValue(wire);

    const told = parseScripts(await offered('/home/me'));

    expect(asked).toHaveBeenCalledWith({ folder: '/home/me' });
    expect(told.folder?.files).toEqual(['a.py', 'b & c.py']);
    expect(told.recent[0]?.path).toBe('/home/me/train.py');
  });

  it('are none where the server tells none, which says why', async () => {
    asked.mockImplementation(() => {
      throw new RequestError(403, 'You may not run anything here.');
    });

    const told = parseScripts(await offered('/home/me'));

    expect(told.folder?.problem).toBe('You may not run anything here.');
    expect(told.folder?.path).toBe('/home/me');
  });
});
