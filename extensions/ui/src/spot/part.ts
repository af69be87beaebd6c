import type { Catalog, IJob } from '@smtc-lab/protocol';
import type { IComponent } from '../forms/component.js';
import type { IModel } from '../model.js';
import { fillWhenOpened } from '../load_part.js';

/**
 * The part of a form about interruptions.
 */
export interface ISpotProps {
  /**
   * Is asked what the job would be on spot instances.
   */
  readonly model: IModel;
  readonly job: IJob;
  readonly catalog: Catalog;

  /**
   * What Python found wrong with it.
   */
  readonly problems: readonly string[];
  readonly onChange: (changed: Partial<IJob>) => void;
}

/**
 * The module `section.ts`.
 */
export interface ISpotModule {
  readonly spotSection: (
    host: HTMLElement,
    props: ISpotProps
  ) => IComponent<ISpotProps>;
}

/**
 * The place of that part: what fills it is loaded when it is unfolded.
 */
export class SpotPart {
  constructor(
    host: HTMLElement,
    private _props: ISpotProps
  ) {
    fillWhenOpened(host, _props.model, 'spot-part', module => {
      const { spotSection } = module as ISpotModule;
      this._section = spotSection(host, this._props);
    });
  }

  update(props: Partial<ISpotProps>): void {
    this._props = { ...this._props, ...props };
    this._section?.update(props);
  }

  dispose(): void {
    this._section?.dispose();
  }

  private _section?: IComponent<ISpotProps>;
}

/**
 * Return whether a problem is said in that part.
 */
export function isOfSpot(text: string): boolean {
  return /^(Invalid MaxW|(TrainingJob\.)?(max_[wr]|market|resume|checkpoint|use_s)|Market)/.test(
    text
  );
}
