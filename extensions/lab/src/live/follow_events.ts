import {
  FOLLOW_EVENT,
  type IFollowDetail
} from '@smtc-lab/ui/monitor/follow_event.js';
import type { IStream } from '../tokens.js';

/**
 * Where the server stands behind a view already.
 */
const SERVED = '.jp-Smtc-main, .jp-SmtcDesigner, .jp-SmtcLive';

/**
 * Let views whose kernel is silent go on with what the server tells.
 *
 * @param connect - Returns the connection to the server.
 * @returns What to call to end it.
 */
export function answerFollowEvents(
  connect: () => Promise<IStream>
): () => void {
  const answer = (event: Event): void => {
    if (event.target instanceof Element && event.target.closest(SERVED)) {
      return;
    }
    const { view, name, begun, take, fail } = (
      event as CustomEvent<IFollowDetail>
    ).detail;
    let isOver = false;
    let end: () => void = () => undefined;
    begun(() => {
      isOver = true;
      end();
    });
    const asked = Promise.all([connect(), import('./followed.js')]);
    void asked.then(([stream, { followed }]) => {
      if (!isOver) {
        // the view says by itself that it does not know
        end = followed(stream, view, name, { take, refuse: () => undefined });
      }
    }, fail);
  };
  document.addEventListener(FOLLOW_EVENT, answer);
  return () => {
    document.removeEventListener(FOLLOW_EVENT, answer);
  };
}
