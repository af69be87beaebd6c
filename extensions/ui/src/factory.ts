import { keepKeys } from './keep_keys.js';
import type { IModel, IView } from './model.js';

interface IHostContext {
  readonly model: IModel;
  readonly el: HTMLElement;
}

/**
 * What anywidget asks of a module.
 */
export interface IWidget {
  initialize(context: { model: IModel }): void;
  render(context: IHostContext): () => void;
}

/**
 * Make a widget, so that what is kept belongs to one model, and all places that show it share it.
 *
 * @param viewOf - Returns the view that the model names.
 */
export function widgetOf(viewOf: (name: unknown) => IView): IWidget {
  let state: unknown;
  return {
    initialize({ model }): void {
      state = viewOf(model.get('_view')).initialize(model);
    },
    render({ model, el }): () => void {
      el.classList.add('smtc');
      el.addEventListener('focusin', keepKeys);
      return viewOf(model.get('_view')).render({ model, el, state });
    }
  };
}
