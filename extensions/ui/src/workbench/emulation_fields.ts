import { objectOf, type IJob } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { deviceTimeField } from '../forms/device_time_field.js';
import { linkField } from '../forms/link_field.js';
import { numberField } from '../forms/number_field.js';

/**
 * Settings of the emulation that have a field, as `Emulation` calls them.
 */
type Setting = 'time_dilation' | 'device_step_time_s' | 'link';

const SETTINGS: readonly Setting[] = [
  'time_dilation',
  'device_step_time_s',
  'link'
];

/**
 * The fields of how this machine stands in for other instance types; all set-ups have the same.
 */
export class EmulationFields {
  /**
   * @param host - Where the fields go.
   * @param changeAll - Changes all set-ups alike.
   */
  constructor(
    host: HTMLElement,
    changeAll: (change: (job: IJob) => IJob) => void
  ) {
    const onChange =
      (setting: Setting) =>
      (value: number | string | null): void => {
        changeAll(job => withSetting(job, setting, value));
      };
    this._device = deviceTimeField(host, {
      value: null,
      problems: [],
      onChange: onChange('device_step_time_s')
    });
    host.append(this._more);
    this._dilation = numberField(this._more, {
      label: t('Emulation: time dilation'),
      value: null,
      min: 1,
      placeholder: t('the least that fits'),
      help: t(
        'Seconds here for one second of the clusters; more leave more to other programs.'
      ),
      onChange: onChange('time_dilation')
    });
    this._link = linkField(this._more, {
      value: null,
      problems: [],
      onChange: onChange('link')
    });
  }

  /**
   * Show what the first set-up says, and what Python found wrong with any of them.
   */
  show(first: IJob | undefined, problems: readonly string[]): void {
    const own = (setting: Setting): readonly string[] => [
      ...new Set(problems.filter(text => isOfSetting(text, setting)))
    ];
    this._device.update({
      value: first === undefined ? null : deviceTimesOf(first),
      problems: own('device_step_time_s')
    });
    this._dilation.update({
      value: settingOf(first, 'time_dilation'),
      problems: own('time_dilation')
    });
    const link = first === undefined ? null : emulationOf(first)['link'];
    this._link.update({ value: link, problems: own('link') });
    const isSaid =
      settingOf(first, 'time_dilation') !== null || (link ?? null) !== null;
    this._more.open ||=
      (isSaid && !this._wasSaid) ||
      own('time_dilation').length + own('link').length > 0;
    this._wasSaid = isSaid;
  }

  private _wasSaid = false;
  /** Opens when a set-up says something of it, and where something is wrong with it. */
  private readonly _more = h(
    'details',
    {},
    h('summary', {}, t('Time and network of the emulation'))
  );
  private readonly _device: ReturnType<typeof deviceTimeField>;
  private readonly _dilation: ReturnType<typeof numberField>;
  private readonly _link: ReturnType<typeof linkField>;
}

/**
 * Return whether a problem is said at a field of the emulation, and so nowhere else.
 */
export function isOfEmulation(problem: string): boolean {
  return SETTINGS.some(setting => isOfSetting(problem, setting));
}

function isOfSetting(problem: string, setting: Setting): boolean {
  return (
    problem.startsWith(`Emulation.${setting}=`) ||
    problem.startsWith(`TrainingJob.emulation.${setting}`) ||
    (setting === 'link' && problem.startsWith('EmulatedLink.'))
  );
}

function settingOf(job: IJob | undefined, setting: Setting): number | null {
  const value = job === undefined ? null : emulationOf(job)[setting];
  return typeof value === 'number' ? value : null;
}

function deviceTimesOf(job: IJob): unknown {
  return emulationOf(job)['device_step_time_s'] ?? null;
}

function withSetting(
  job: IJob,
  setting: Setting,
  value: number | string | null
): IJob {
  const emulation = { ...emulationOf(job), [setting]: value };
  return { ...job, rest: { ...job.rest, emulation } };
}

function emulationOf(job: IJob): Readonly<Record<string, unknown>> {
  return objectOf(job.rest['emulation'] ?? {}, 'Emulation');
}
