import type { Catalog, IJob } from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { t } from '../i18n.js';
import type { IComponent } from '../forms/component.js';
import type { IModel } from '../model.js';
import { loadPart } from '../load_part.js';

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
    private readonly _host: HTMLElement,
    private _props: ISpotProps
  ) {
    _host.parentElement?.addEventListener('toggle', () => {
      void this._fill();
    });
  }

  update(props: Partial<ISpotProps>): void {
    this._props = { ...this._props, ...props };
    this._section?.update(props);
  }

  dispose(): void {
    this._section?.dispose();
  }

  private async _fill(): Promise<void> {
    if (this._isAsked) {
      return;
    }
    this._isAsked = true;
    this._host.setAttribute('role', 'status');
    tell(this._host, t('Loading …'));
    try {
      const { spotSection } = await loadPart<ISpotModule>(
        this._props.model,
        'spot-part'
      );
      this._host.removeAttribute('role');
      this._host.textContent = '';
      this._section = spotSection(this._host, this._props);
    } catch (error) {
      this._isAsked = false;
      tell(this._host, String(error));
    }
  }

  private _isAsked = false;
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
