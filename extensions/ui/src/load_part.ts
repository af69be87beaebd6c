import { tell } from './bounded.js';
import { t } from './i18n.js';
import type { IModel } from './model.js';

/**
 * What brings a part that few views need, where the host of a model has it at hand.
 */
export const PARTS: Record<string, () => Promise<unknown>> = {};

/**
 * Have the host of a model bring a part: the module, or its text where a notebook loads one module
 * at first and has no place that another one could be fetched from.
 *
 * @param type - Of the message that asks for it, and of the answer.
 */
export async function loadPart<T>(model: IModel, type: string): Promise<T> {
  const known = PARTS[type];
  if (known !== undefined) {
    return (await known()) as T;
  }
  const module = await new Promise<unknown>(resolve => {
    const hear = (message: { type: string; module: unknown }): void => {
      if (message.type === type) {
        model.off('msg:custom', hear);
        resolve(message.module);
      }
    };
    model.on('msg:custom', hear);
    model.send({ type });
  });
  if (typeof module !== 'string') {
    return module as T;
  }
  const url = URL.createObjectURL(
    new Blob([module], { type: 'text/javascript' })
  );
  return (await import(/* webpackIgnore: true */ url)) as T;
}

/**
 * Fill a place with a part when what it can be unfolded in is unfolded for the first time.
 *
 * @param host - The place, in a ``details`` element.
 * @param model - Whose host is asked.
 * @param type - As of ``loadPart``.
 * @param fill - Called with the module when the place is empty.
 */
export function fillWhenOpened(
  host: HTMLElement,
  model: IModel,
  type: string,
  fill: (module: unknown) => void
): void {
  let isAsked = false;
  const load = async (): Promise<void> => {
    if (isAsked) {
      return;
    }
    isAsked = true;
    host.setAttribute('role', 'status');
    tell(host, t('Loading …'));
    try {
      const module = await loadPart<unknown>(model, type);
      host.removeAttribute('role');
      host.textContent = '';
      fill(module);
    } catch (error) {
      isAsked = false;
      tell(host, String(error));
    }
  };
  host.parentElement?.addEventListener('toggle', () => {
    void load();
  });
}
