import type { IModel } from '../model.js';
import type { ISpotModule } from './part.js';

/**
 * What a host answers: the module, or its text where a notebook loads one module at first and has
 * no place that another one could be fetched from.
 */
interface ISpotMessage {
  readonly type: string;
  readonly module: ISpotModule | string;
}

/**
 * Have the host of a model bring the part about interruptions, which few forms need.
 */
export async function loadSpot(model: IModel): Promise<ISpotModule> {
  const module = await new Promise<ISpotMessage['module']>(resolve => {
    const hear = (message: ISpotMessage): void => {
      if (message.type === 'spot-part') {
        model.off('msg:custom', hear);
        resolve(message.module);
      }
    };
    model.on('msg:custom', hear);
    model.send({ type: 'spot-part' });
  });
  if (typeof module !== 'string') {
    return module;
  }
  const url = URL.createObjectURL(
    new Blob([module], { type: 'text/javascript' })
  );
  return (await import(/* webpackIgnore: true */ url)) as ISpotModule;
}
