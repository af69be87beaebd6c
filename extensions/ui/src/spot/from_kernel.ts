import type { IModel } from '../model.js';
import type { ISpotModule } from './part.js';

/**
 * Have the kernel of a widget send the part about interruptions: what a notebook loads at first is
 * one module, and has no place that another one could be fetched from.
 */
export async function spotFromKernel(model: IModel): Promise<ISpotModule> {
  const text = await new Promise<string>(resolve => {
    const hear = (message: Readonly<Record<string, string>>): void => {
      if (message['type'] === 'spot-part') {
        model.off('msg:custom', hear);
        resolve(String(message['module']));
      }
    };
    model.on('msg:custom', hear);
    model.send({ type: 'spot-part' });
  });
  const url = URL.createObjectURL(
    new Blob([text], { type: 'text/javascript' })
  );
  return (await import(/* webpackIgnore: true */ url)) as ISpotModule;
}
