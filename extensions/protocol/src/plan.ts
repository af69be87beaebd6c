import type { IPointInfo } from './generated/wire.js';

/**
 * What a step is made of.
 */
export type Stage = keyof IPointInfo['stagesS'];

/**
 * The stages, in the order in which a sample passes them.
 */
export const STAGES: readonly Stage[] = ['cpu', 'network', 'serial', 'device'];
