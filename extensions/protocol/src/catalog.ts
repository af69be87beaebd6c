import type { IInstanceType } from './generated/wire.js';
import { listField, readOnce } from './read.js';
import { readWire } from './wire.js';

/**
 * The instance type that stands for this machine as it is: no quota, no price.
 */
export const LOCAL = 'local';

/**
 * The instance types by name, in the order of the price list.
 */
export type Catalog = ReadonlyMap<string, IInstanceType>;

/**
 * Read a catalog; the same value is the same catalog each time, so that a list of its types stays
 * open while something else is news.
 *
 * @throws {@link ProtocolError} when it is none.
 */
export const parseCatalog = readOnce((json: unknown): Catalog => {
  const types = listField({ catalog: json }, 'catalog', item =>
    readWire('InstanceType', item)
  );
  return new Map(types.map(type => [type.name, type]));
});
