/**
 * How busy the parts of a cluster are, each from 0 to 1; null: not known.
 */
export interface IShares {
  readonly trainerCpu: number | null;
  readonly dataCpu: number | null;
  readonly device: number | null;
  readonly network: number | null;
}

/**
 * One of the parts.
 */
export type Part = keyof IShares;

/**
 * What steps can wait for: a part, the one thread of a trainer that feeds its device, or data
 * workers that are fewer than the vCPUs of their instance.
 */
export type Neck = Part | 'serial' | 'workers';

/**
 * What is told of a cluster while nothing was predicted or measured.
 */
export const NO_SHARES: IShares = {
  trainerCpu: null,
  dataCpu: null,
  device: null,
  network: null
};

/**
 * What a picture says beyond what the cluster is made of.
 */
export interface IFilling {
  readonly shares: IShares;

  /**
   * What was predicted where `shares` were measured; null: `shares` are predicted themselves.
   */
  readonly predicted: IShares | null;

  /**
   * What the steps wait for; null: not known.
   */
  readonly bottleneck: Neck | null;

  /**
   * Data workers of an instance where they are the bottleneck; 0: trainers prepare their samples
   * themselves. Null: they are not.
   */
  readonly limitingWorkers: number | null;

  /**
   * What to try first, as a plan says it; empty: nothing is said.
   */
  readonly advice: string;

  /**
   * Devices of an instance that a trainer has; null: all, or not known.
   */
  readonly usedDevices: number | null;

  /**
   * Steps in a second, which is how fast batches move; null: they stand still.
   */
  readonly stepsPerS: number | null;
}

/**
 * A picture of what is not known to do anything.
 */
export const EMPTY: IFilling = {
  shares: NO_SHARES,
  predicted: null,
  bottleneck: null,
  limitingWorkers: null,
  advice: '',
  usedDevices: null,
  stepsPerS: null
};
