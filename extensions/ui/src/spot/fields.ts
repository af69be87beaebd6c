import { t } from '../i18n.js';
import type { IEntry } from './entry.js';

/**
 * Longest time with instances that Python takes where none is given, in seconds.
 */
export const MAX_RUNTIME_S = 86_400;

/**
 * What a job says of interruptions.
 */
export const jobFields = (): readonly IEntry[] => [
  {
    name: 'use_spot_instances',
    kind: 'tick',
    label: t('Train on spot instances'),
    help: t(
      'They may be taken away at any time. The run goes on from its last checkpoint when there are others.'
    )
  },
  {
    name: 'max_runtime_s',
    kind: 'seconds',
    label: t('Longest time with instances, seconds'),
    placeholder: String(MAX_RUNTIME_S)
  },
  {
    name: 'max_wait',
    kind: 'seconds',
    label: t('Longest time until the end, seconds'),
    placeholder: t('as long as it takes'),
    help: t(
      'Waiting for instances included; at least the longest time with instances.'
    )
  }
];

/**
 * What it says of its checkpoints on SageMaker.
 */
export const sagemakerFields = (): readonly IEntry[] => [
  {
    name: 'checkpoint_s3_uri',
    kind: 'text',
    label: t('Checkpoints in S3'),
    placeholder: t('below the output of the job'),
    help: t(
      '``s3://BUCKET/PREFIX`` of this job alone. Elsewhere the folder of the run keeps them.'
    )
  },
  {
    name: 'checkpoint_local_path',
    kind: 'text',
    label: t('Folder of checkpoints'),
    placeholder: '/opt/ml/checkpoints',
    help: t('``SM_CHECKPOINT_DIR`` names it to the script.')
  }
];

/**
 * The market that this machine plays.
 */
export const marketFields = (): readonly IEntry[] => [
  {
    name: 'mean_time_between_s',
    kind: 'seconds',
    label: t('Mean time between interruptions, seconds'),
    placeholder: t('never')
  },
  {
    name: 'variation',
    kind: 'number',
    label: t('Variation of that time'),
    placeholder: '1',
    help: t('1: without memory. Public traces have 1.5 to 2.6.')
  },
  {
    name: 'mean_wait_s',
    kind: 'seconds',
    label: t('Mean time without instances, seconds'),
    placeholder: '0'
  },
  {
    name: 'notice_s',
    kind: 'seconds',
    label: t('Notice, seconds of this machine'),
    placeholder: '0'
  },
  {
    name: 'time_scale',
    kind: 'number',
    label: t('Seconds of the market in a second here'),
    placeholder: '1',
    help: t('With 3,600 an hour of the market passes in one second.')
  },
  {
    name: 'trace',
    kind: 'text',
    label: t('Trace of instances, a file'),
    placeholder: t('none')
  }
];

/**
 * The market and the deadline that a forecast is asked of.
 */
export const questionFields = (): readonly IEntry[] => [
  {
    name: 'mean_time_between_s',
    kind: 'seconds',
    label: t('Instances last in the mean, seconds')
  },
  {
    name: 'variation',
    kind: 'number',
    label: t('Variation of that'),
    help: t('1: without memory. Public traces have 1.5 to 2.6.')
  },
  {
    name: 'mean_wait_s',
    kind: 'seconds',
    label: t('Then there are none for, seconds')
  },
  {
    name: 'deadline_s',
    kind: 'seconds',
    label: t('Deadline, seconds from the launch')
  }
];

/**
 * The times of the job, where nobody measured them.
 */
export const timeFields = (): readonly IEntry[] => [
  {
    name: 'work_s',
    kind: 'seconds',
    label: t('All steps, seconds'),
    placeholder: t('as measured or predicted')
  },
  {
    name: 'save_s',
    kind: 'seconds',
    label: t('One save, seconds'),
    placeholder: t('as measured')
  },
  {
    name: 'restart_s',
    kind: 'seconds',
    label: t('From an instance to the next step, seconds'),
    placeholder: t('as measured or predicted')
  }
];
