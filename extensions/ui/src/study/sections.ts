import type { IComparisonInfo, ISection } from '@smtc-lab/protocol';
import { paragraph, tell } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { loadPart } from '../load_part.js';
import type { IModel } from '../model.js';
import { drawn, type IPart } from '../monitor/part.js';
import { column, table } from '../monitor/table.js';
import { efficiencyChart } from '../scaling/efficiency_chart.js';
import { lostBars } from '../scaling/lost_bars.js';
import type { ITuningProps } from '../tuning/section.js';

const DRAWN = ['scaling', 'tuning'];

/**
 * Return what kinds of study say of their own, below the answer.
 */
export function sections(model: IModel): readonly IPart<IComparisonInfo>[] {
  return [
    efficiencyChart(),
    lostBars(),
    new TuningPart(model),
    drawn(h('div', {}), info =>
      info.sections.filter(({ name }) => !DRAWN.includes(name)).flatMap(inWords)
    )
  ];
}

/**
 * Return a section that no picture is known of.
 */
function inWords({ sentence, rows }: ISection): readonly Node[] {
  const lines = rows.map(({ label, cells }) => [label, ...cells] as const);
  return [
    ...(sentence === '' ? [] : [paragraph(sentence)]),
    ...(lines.length === 0 ? [] : [table('', [column('')], lines)])
  ];
}

/**
 * The place of the pictures of a search, which are loaded where there is one.
 */
class TuningPart implements IPart<IComparisonInfo> {
  readonly element = h('div', { hidden: true });

  constructor(private readonly _model: IModel) {}

  update({ sections: all, ended }: IComparisonInfo): void {
    const section = all.find(({ name }) => name === 'tuning');
    if (section !== undefined) {
      this._props = { ...section, ended };
      void this._show(section);
    }
  }

  dispose(): void {
    this._isOver = true;
    this._part?.dispose?.();
  }

  private async _show(section: ISection): Promise<void> {
    try {
      if (this._part === undefined) {
        if (this._isAsked) {
          return;
        }
        this._isAsked = true;
        this.element.hidden = false;
        tell(this.element, t('Loading …'));
        const { TuningSection } = await loadPart<ITuningModule>(
          this._model,
          'tuning-part'
        );
        if (this._isOver) {
          return;
        }
        this._part = new TuningSection(this._model);
        this.element.replaceChildren(this._part.element);
      }
      this._part.update(this._props as ITuningProps);
    } catch (error) {
      this.element.replaceChildren(
        paragraph(String(error)),
        ...inWords(section)
      );
    }
  }

  private _part: IPart<ITuningProps> | undefined;
  private _props: ITuningProps | null = null;
  private _isAsked = false;
  private _isOver = false;
}

/**
 * The module `tuning.ts`.
 */
interface ITuningModule {
  readonly TuningSection: new (model: IModel) => IPart<ITuningProps>;
}
