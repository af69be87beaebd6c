import type { ICompilerLadders } from './generated/wire.js';
import { readOnce } from './read.js';
import { readWire } from './wire.js';

const NONE: ICompilerLadders = { version: 1, of: '', problem: '', setUps: [] };

/**
 * Read what was measured of compiler settings; undefined: nobody asked yet.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export const parseCompilerLadders = readOnce(
  (value: unknown): ICompilerLadders =>
    value === undefined ? NONE : readWire('CompilerLadders', value)
);
