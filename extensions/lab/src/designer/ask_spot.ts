import { objectOf } from '@smtc-lab/protocol';
import type { IModel } from '@smtc-lab/ui/model.js';
import type { IStream } from '../tokens.js';

/**
 * Ask the server what a job would be on spot instances, and tell the model; where no answer comes,
 * why.
 *
 * @param wordsOf - Say in words why no answer came.
 */
export async function askSpot(
  model: Pick<IModel, 'set'>,
  stream: Pick<IStream, 'request'>,
  question: unknown,
  wordsOf: (error: unknown) => string
): Promise<void> {
  let told: unknown;
  try {
    told = await stream.request('spot-forecast', question);
  } catch (error) {
    const { asked } = objectOf(question, 'A question');
    told = { version: 1, asked, problem: wordsOf(error) };
  }
  model.set('spot_answer', told);
}
