import type { IModel } from '@smtc-lab/ui/model.js';
import type { IStream } from '../tokens.js';

/**
 * Ask the server what was measured of the compiler settings that are typed now, and tell the
 * model; where no answer comes, why.
 *
 * @param wordsOf - Say in words why no answer came.
 */
export async function askLadders(
  model: Pick<IModel, 'get' | 'set'>,
  stream: Pick<IStream, 'request'>,
  wordsOf: (error: unknown) => string
): Promise<void> {
  let told: unknown;
  try {
    told = await stream.request('compiler-ladders', {
      value: model.get('value'),
      rounds: model.get('rounds')
    });
  } catch (error) {
    told = { version: 1, of: '', problem: wordsOf(error), set_ups: [] };
  }
  model.set('compiler_ladders', told);
}
