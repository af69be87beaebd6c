import type { IStream, IWatch } from '../tokens.js';

/**
 * What becomes of a question to the server.
 */
export interface IAnswer {
  /**
   * Called once with a model that has all values. It belongs to who asked until the end.
   */
  readonly take: (watch: IWatch) => void;

  /**
   * Called when the server cannot tell, with the reason. A connection that is cut is no reason:
   * it is made again.
   */
  readonly refuse: (why: string) => void;
}

/**
 * Ask the server to follow something.
 *
 * @param view - `run-monitor`, …
 * @returns What ends it.
 */
export function followed(
  stream: IStream,
  view: string,
  name: string,
  { take, refuse }: IAnswer
): () => void {
  const watch = stream.watch(view, name);
  const settled = (): void => {
    watch.stateChanged.disconnect(look);
    stream.changed.disconnect(look);
  };
  const look = (): void => {
    const why =
      stream.state === 'refused'
        ? (stream.problem?.message ?? '')
        : watch.problem;
    if (watch.isReady) {
      settled();
      take(watch);
    } else if (why !== '') {
      settled();
      refuse(why);
    }
  };
  watch.stateChanged.connect(look);
  stream.changed.connect(look);
  watch.resume();
  look();
  return () => {
    settled();
    watch.dispose();
  };
}
