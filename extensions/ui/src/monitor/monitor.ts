import { readWire } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { onChanges } from '../forms/component.js';
import { Feed } from '../live/feed.js';
import type { IModel, IView } from '../model.js';
import { Header } from './header.js';
import type { IKind, IStanding } from './kind.js';
import type { StopButton } from './stop_button.js';
import { Successor } from './successor.js';

const NARROW_PX = 480;

/**
 * Return the view of a kind: something that goes on or has ended, with its Stop button. When its
 * model is silent for long, it goes on with that of a server, where the page has one.
 */
export function monitor<T extends IStanding>(kind: IKind<T>): IView {
  return {
    initialize: model => new Feed(model),
    render({ model, el, state }): () => void {
      let leave: () => void = () => undefined;
      const wish = new StopWish();
      const successor = new Successor(el, `${kind.kind}-monitor`, served => {
        const asking = wish.button?.asking;
        leave();
        leave = draw(kind, el, served, new Feed(served), wish, () => undefined);
        if (asking !== undefined) {
          wish.button?.askOn(asking);
        }
        if (!kind.follow(served.get('info')).ended) {
          wish.repeat(served);
        }
      });
      leave = draw(kind, el, model, state as Feed, wish, (isSilent, name) => {
        if (isSilent) {
          successor.ask(name);
        } else {
          successor.forget();
        }
      });
      return () => {
        successor.dispose();
        leave();
      };
    }
  };
}

/**
 * That it shall be stopped. A kernel that was just restarted, and is not known to be silent yet,
 * does not hear it: who follows it is told again.
 */
class StopWish {
  /**
   * Where the user is asked, in the view that is drawn now.
   */
  button: StopButton | null = null;

  ask(model: IModel): void {
    this._isAsked = true;
    model.send({ type: 'stop' });
  }

  repeat(model: IModel): void {
    if (this._isAsked) {
      this.ask(model);
    }
  }

  /**
   * It was heard, and cannot be done.
   */
  forget(): void {
    this._isAsked = false;
  }

  private _isAsked = false;
}

/**
 * Draw what a model says.
 *
 * @param wish - Told when the user asks for the end.
 * @param listen - Called when no news has come for long, and when there are news again.
 * @returns What to call when it goes away.
 */
function draw<T extends IStanding>(
  kind: IKind<T>,
  el: HTMLElement,
  model: IModel,
  feed: Feed,
  wish: StopWish,
  listen: (isSilent: boolean, name: string) => void
): () => void {
  const isWide = el.clientWidth === 0 || el.clientWidth >= NARROW_PX;
  let info = kind.follow(model.get('info'));
  const ask = (what: 'stop' | 'interrupt'): void => {
    if (what === 'stop') {
      wish.ask(model);
    } else {
      // never again by itself: each one takes instances away
      model.send({ type: what });
    }
  };
  const header = new Header(kind, feed, ask, listen);
  wish.button = header.stop;
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
    onChanges(model, ['interrupt_problem'], () => {
      header.interrupt.fail(String(model.get('interrupt_problem')));
    }),
    onChanges(model, ['stop_problem'], () => {
      wish.forget();
      header.stop.fail(String(model.get('stop_problem')));
    })
  ];
  return () => {
    leave.forEach(end => {
      end();
    });
    parts.forEach(part => {
      part.dispose?.();
    });
    element.remove();
  };
}
