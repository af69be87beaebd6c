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
