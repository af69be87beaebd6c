import type { Catalog, IJob } from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { TEMPLATES, type ITemplate } from './templates.js';

/**
 * Buttons that add a set-up like the baseline but for one thing.
 */
export class TemplateButtons {
  /**
   * @param onApply - Called with the template that was pressed.
   */
  constructor(onApply: (template: ITemplate) => void) {
    this._buttons = TEMPLATES.map(template => {
      const made = button(`+ ${t(template.label)}`, () => {
        if (made.getAttribute('aria-disabled') !== 'true') {
          onApply(template);
        }
      });
      this.element.append(made);
      return [template, made] as const;
    });
  }

  readonly element = h('span', { class: 'smtc-templates' });

  /**
   * Offer what a baseline is not yet.
   *
   * @param baseline - Undefined: no more can be added.
   */
  show(baseline: IJob | undefined, catalog: Catalog): void {
    for (const [template, made] of this._buttons) {
      const isNot =
        baseline !== undefined && template.of(baseline, catalog) === null;
      // it stays where the keyboard finds it, and says why it does nothing
      made.disabled = baseline === undefined;
      made.setAttribute('aria-disabled', String(isNot));
      made.title = isNot ? t(template.whyNot) : '';
    }
  }

  private readonly _buttons: readonly (readonly [
    ITemplate,
    HTMLButtonElement
  ])[];
}
