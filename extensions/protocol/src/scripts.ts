import type { IScripts } from './generated/wire.js';
import { readWire } from './wire.js';

const NONE: IScripts = {
  version: 1,
  recent: [],
  examples: [],
  cells: [],
  folder: null,
  saved: null
};

/**
 * Read the scripts that a form offers; undefined: nobody asked yet.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export function parseScripts(value: unknown): IScripts {
  return value === undefined ? NONE : readWire('Scripts', value);
}
