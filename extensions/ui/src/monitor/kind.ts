import type { IRunInfo } from '@smtc-lab/protocol';
import type { Feed } from '../live/feed.js';
import type { IModel } from '../model.js';
import type { Fact } from './facts.js';
import type { IInterruptible } from './interrupt_button.js';
import type { IPart } from './part.js';

/**
 * What is known of everything that goes on.
 */
export type IStanding = Pick<IRunInfo, 'state' | 'ended' | 'elapsedS'> &
  Partial<Pick<IRunInfo, 'secondary'>>;

/**
 * What the header says.
 */
export interface IDescription {
  readonly name: string;

  /**
   * The name with the word for its kind.
   */
  readonly label: string;

  /**
   * What is spoken when it is another; at most every ten seconds, and at the end.
   */
  readonly spoken: string;

  /**
   * Share that is done, 0 to 1; null: it is not known.
   */
  readonly done: number | null;

  /**
   * The same in words.
   */
  readonly progress: string;

  readonly facts?: readonly Fact[];

  /**
   * Left out: no instances of it can be taken away from here.
   */
  readonly interruptible?: IInterruptible | null;

  /**
   * Why it is in its state, and what to do about it; empty: there is nothing to say.
   */
  readonly reason: string;

  /**
   * Why less is known than there is.
   */
  readonly problem?: string;
}

/**
 * Where a monitor stands.
 */
export interface IPlace {
  readonly model: IModel;
  readonly feed: Feed;

  /**
   * Whether there is room for parts that are less important.
   */
  readonly isWide: boolean;
}

/**
 * A kind of thing that goes on. All that differs from one to the other is here.
 *
 * @typeParam T - Its description.
 */
export interface IKind<T extends IStanding> {
  /**
   * The same name as in Python and in the list of runs; `openers.ts` has what opens one.
   */
  readonly kind: string;

  /**
   * "the run": in English, `t` is called where it is shown.
   */
  readonly what: string;

  /**
   * Classes of its element.
   */
  readonly classes: string;

  /**
   * Follow it: read what its model says.
   *
   * @throws {@link ProtocolError} when it is another kind, or of another version.
   */
  follow(json: unknown): T;

  /**
   * Describe it for the header.
   *
   * @param elapsedS - Seconds since it began, newer than those of `info`.
   */
  describe(info: T, elapsedS: number | null, feed: Feed): IDescription;

  /**
   * Draw what is below the header.
   */
  draw(place: IPlace): readonly IPart<T>[];
}
