import {
  COMPILER_DEFAULTS,
  roles,
  type Catalog,
  type IJob
} from '@smtc-lab/protocol';
import { batchSizeIn } from '../forms/batch_size.js';
import { dataGroup } from '../forms/groups.js';
import { mark } from '../i18n.js';
import { withMoreDevices } from './more_devices.js';

/**
 * A set-up like the baseline, but for one thing.
 */
export interface ITemplate {
  /**
   * On its button, in English.
   */
  readonly label: string;

  /**
   * What the set-up is called, in English.
   */
  readonly name: string;

  /**
   * Why a baseline may be without it, in English.
   */
  readonly whyNot: string;

  /**
   * Return the set-up; null: the baseline is so already, or cannot be.
   */
  readonly of: (baseline: IJob, catalog: Catalog) => IJob | null;
}

/**
 * What can be compared with one press.
 */
export const TEMPLATES: readonly ITemplate[] = [
  {
    label: mark('add data instances'),
    name: mark('with data instances'),
    whyNot: mark('The first set-up has data instances already.'),
    of: (job, catalog) =>
      roles(job.cluster, catalog).includes('data')
        ? null
        : {
            ...job,
            cluster: {
              ...job.cluster,
              groups: [...job.cluster.groups, dataGroup(job.cluster, catalog)]
            }
          }
  },
  {
    label: mark('more devices'),
    name: mark('twice the devices'),
    whyNot: mark(
      'Needs one group that trains, of instances that can be twice as many.'
    ),
    of: withMoreDevices
  },
  {
    label: mark('compile'),
    name: mark('compiled'),
    whyNot: mark('The first set-up is compiled already.'),
    of: job =>
      job.compilerConfig?.enabled === true
        ? null
        : { ...job, compilerConfig: { ...COMPILER_DEFAULTS, enabled: true } }
  },
  {
    label: mark('bigger batch'),
    name: mark('twice the batch'),
    whyNot: mark(
      'The first set-up has no hyperparameter for its batch size: add one, batch_size for example.'
    ),
    of: job => {
      const { batchSize, batchSizeName } = batchSizeIn(job.hyperparameters);
      return batchSize === null
        ? null
        : {
            ...job,
            hyperparameters: {
              ...job.hyperparameters,
              [batchSizeName]: 2 * batchSize
            }
          };
    }
  }
];
