/**
 * The module that anywidget loads: it shows the view that the model names.
 */
import './styles/index.css';
import { keepKeys } from './keep_keys.js';
import { viewNamed } from './views.js';
import type { IModel } from './model.js';

interface IHostContext {
  readonly model: IModel;
  readonly el: HTMLElement;
}

/**
 * A factory, so that what is kept belongs to one model, and all places that show it share it.
 */
export default function widget(): {
  initialize(context: { model: IModel }): void;
  render(context: IHostContext): () => void;
} {
  let state: unknown;
  return {
    initialize({ model }): void {
      state = viewNamed(model.get('_view')).initialize(model);
    },
    render({ model, el }): () => void {
      el.classList.add('smtc');
      el.addEventListener('focusin', keepKeys);
      return viewNamed(model.get('_view')).render({ model, el, state });
    }
  };
}
