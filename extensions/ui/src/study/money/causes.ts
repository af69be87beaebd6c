import type { ILaunchCostPart, IStepsCostPart } from '@smtc-lab/protocol';
import { mark } from '../../i18n.js';

export type Cause = IStepsCostPart['cause'] | ILaunchCostPart['cause'];

/**
 * What is paid for: the colour of its part of a cluster, and how it is filled. Hatched is paid
 * while it waits; what nobody told apart is only an outline.
 */
export interface ICause {
  readonly words: string;
  readonly of: Instances;
  readonly part: Part;
  readonly filling: Filling;
}

/**
 * Who is paid for.
 */
export type Instances = 'trainers' | 'data' | 'all';

/**
 * The name of a colour: a device, a vCPU, the network, or none of them.
 */
export type Part = 'dev' | 'cpu' | 'net' | 'all';

export type Filling = 'full' | 'hatched' | 'crossed' | 'open';

export const INSTANCES: Readonly<Record<Instances, string>> = {
  trainers: mark('training instances'),
  data: mark('data instances'),
  all: mark('all instances')
};

const cause = (
  of: Instances,
  part: Part,
  filling: Filling,
  words: string
): ICause => ({ words, of, part, filling });

/**
 * All causes, in the order in which a bar has them.
 */
export const CAUSES: Readonly<Record<Cause, ICause>> = {
  compute: cause('trainers', 'dev', 'full', mark('compute')),
  step: cause(
    'trainers',
    'dev',
    'open',
    mark('compute and all else, not told apart')
  ),
  data_wait: cause('trainers', 'dev', 'hatched', mark('wait for data')),
  device_idle: cause(
    'trainers',
    'dev',
    'crossed',
    mark('idle for other reasons')
  ),
  trainers_unknown: cause('trainers', 'dev', 'open', mark('use is unknown')),
  prepare_data: cause('data', 'cpu', 'full', mark('prepare data')),
  data_idle: cause('data', 'cpu', 'hatched', mark('idle')),
  data_unknown: cause('data', 'cpu', 'open', mark('use is unknown')),
  startup: cause('all', 'all', 'hatched', mark('start-up')),
  first_steps: cause(
    'all',
    'all',
    'crossed',
    mark('first steps: compiling, warming up')
  ),
  steps: cause('all', 'all', 'full', mark('steps')),
  all_steps: cause('all', 'all', 'full', mark('steps, first ones included')),
  interruptions: cause('all', 'all', 'crossed', mark('interruptions')),
  end: cause('all', 'all', 'hatched', mark('end'))
};
