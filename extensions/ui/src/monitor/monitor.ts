import { readWire } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { onChanges } from '../forms/component.js';
import { Feed } from '../live/feed.js';
import type { IView } from '../model.js';
import { Header } from './header.js';
import type { IKind, IStanding } from './kind.js';

const NARROW_PX = 480;

/**
 * Return the view of a kind: something that goes on or has ended, with its Stop button.
 */
export function monitor<T extends IStanding>(kind: IKind<T>): IView {
  return {
    initialize: model => new Feed(model),
    render({ model, el, state }): () => void {
      const feed = state as Feed;
      const isWide = el.clientWidth === 0 || el.clientWidth >= NARROW_PX;
      let info = kind.follow(model.get('info'));
      const header = new Header(kind, feed, () => {
        model.send({ type: 'stop' });
      });
      const parts = [header, ...kind.draw({ model, feed, isWide })];
      const element = h(
        'section',
        {
          class: `smtc-monitor ${kind.classes}`,
          'aria-label': kind.describe(info, info.elapsedS, feed).label
        },
        ...parts.map(part => part.element)
      );
      const show = (): void => {
        parts.forEach(part => {
          part.update(info);
        });
      };
      const beat = (): void => {
        header.beat(readWire('BeatInfo', model.get('beat')));
      };
      el.append(element);
      show();
      if (!info.ended) {
        beat();
      }
      const leave = [
        feed.onTable(show),
        onChanges(model, ['info'], () => {
          info = kind.follow(model.get('info'));
          show();
        }),
        onChanges(model, ['log', 'result'], show),
        onChanges(model, ['beat'], beat),
        onChanges(model, ['stop_problem'], () => {
          header.stopFailed(String(model.get('stop_problem')));
        })
      ];
      return () => {
        leave.forEach(stop => {
          stop();
        });
        parts.forEach(part => {
          part.dispose?.();
        });
        element.remove();
      };
    }
  };
}
