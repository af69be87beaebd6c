import { parseCatalog, parseJob, type IJob } from '@smtc-lab/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { SetUps } from '../src/workbench/set_ups.js';
import { spotSection } from '../src/spot/section.js';
import type { IComponent } from '../src/forms/component.js';
import type { ISpotProps } from '../src/spot/part.js';
import {
  button,
  catalogJson,
  choice,
  FakeModel,
  host,
  JOB,
  labelled,
  problemsIn,
  type
} from './forms_kit.js';

const MAX_WAIT =
  'Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to ' +
  'MaxRuntimeInSeconds: max_wait=5, max_runtime_s=86400. Raise max_wait, or lower max_runtime_s.';
const CLUSTER = {
  name: 'one',
  instance_groups: [
    {
      instance_group_name: 'train',
      instance_type: 'ml.p3.2xlarge',
      instance_count: 1
    }
  ]
};
const MEAN = 'Instances last in the mean, seconds';
const PRICE = 'Spot price of ml.p3.2xlarge, USD an hour';

function interval(mean: number): object {
  return {
    mean,
    low: 0.9 * mean,
    high: 1.2 * mean,
    level: 0.9,
    evidence: 'predicted'
  };
}

function policy(name: string, usesSpot: boolean | null, usd: number): object {
  return {
    policy: name,
    usd: interval(usd),
    finish_s: interval(7200),
    deadline_probability: 0.9999,
    ended_fraction: name === 'uniform progress' ? 0.5 : 1,
    save_every_s: 90,
    use_spot_instances: usesSpot
  };
}

let element: HTMLElement;
let model: FakeModel;
let section: IComponent<ISpotProps>;
let job: IJob;

function show(fields: object = {}, problems: readonly string[] = []): void {
  job = parseJob({ ...JOB, cluster: CLUSTER, ...fields });
  element = host();
  model = new FakeModel();
  section = spotSection(element, {
    model,
    job,
    problems,
    catalog: parseCatalog(catalogJson),
    onChange: changed => {
      job = { ...job, ...changed };
      section.update({ job });
    }
  });
}

function answer(fields: object): void {
  const { question } = model.sent.at(-1) as { question: { asked: string } };
  model.set('spot_answer', { version: 1, asked: question.asked, ...fields });
}

function ask(): void {
  type(labelled(element, MEAN), '7200');
  type(labelled(element, PRICE), '1.3');
  button(element, 'Forecast on spot').click();
}

function status(): string {
  const found = element.querySelector('.smtc-spot-forecast [role=status]');
  return found?.textContent ?? '';
}

describe('the part about interruptions', () => {
  it('puts what is entered into the job', () => {
    show();

    labelled(element, 'Train on spot instances').click();
    type(labelled(element, 'Longest time with instances, seconds'), '3600');
    type(labelled(element, 'Longest time until the end, seconds'), '7200');
    type(choice(element, 'Resume after an interruption'), 'automatic');
    labelled(element, 'Play a spot market on this machine').click();
    type(
      labelled(element, 'Mean time between interruptions, seconds'),
      '600.5'
    );
    type(labelled(element, 'Checkpoints in S3'), 's3://bucket/job');

    expect(job.rest).toEqual({
      use_spot_instances: true,
      max_runtime_s: 3600,
      max_wait: 7200,
      resume: 'automatic',
      market: { mean_time_between_s: 600.5 },
      checkpoint_s3_uri: 's3://bucket/job'
    });
  });

  it('shows what a job says, and leaves what it has no field for', () => {
    const market = { mean_time_between_s: 60, interruptions_s: [3, 9] };
    show({ use_spot_instances: true, max_wait: 9e4, market, seed: 7 });

    const field = 'Mean time between interruptions, seconds';
    expect(labelled(element, field).value).toBe('60');
    type(labelled(element, field), '');
    expect(job.rest).toMatchObject({
      seed: 7,
      max_wait: 9e4,
      market: { interruptions_s: [3, 9] }
    });
    expect(element.textContent).toContain('= 25 h.');
  });

  it('takes away what spot instances alone have, and brings it back', () => {
    show({ use_spot_instances: true, max_wait: 9e4, market: {} });
    const tick = labelled(element, 'Train on spot instances');

    tick.click();
    expect(job.rest).toMatchObject({ max_wait: null, market: null });
    expect(
      labelled(element, 'Longest time until the end, seconds').disabled
    ).toBe(true);
    tick.click();
    expect(job.rest).toMatchObject({ max_wait: 9e4, market: {} });
  });

  it('tells a problem at its field, and others below', () => {
    const others = [
      'Market.variation=0.0 is outside 0.1 to 10. Change it.',
      'TrainingJob.market.bla=3 is not a field of this spec.'
    ];
    show({ use_spot_instances: true, max_wait: 5, market: {} }, [
      MAX_WAIT,
      ...others,
      'entry_point is not there.'
    ]);

    const wait = labelled(element, 'Longest time until the end, seconds');
    expect(wait.getAttribute('aria-invalid')).toBe('true');
    expect(wait.closest('.smtc-field')?.textContent).toContain(MAX_WAIT);
    const variation = labelled(element, 'Variation of that time');
    expect(variation.closest('.smtc-field')?.textContent).toContain(others[0]);
    expect(problemsIn(element).filter(text => text !== '')).toEqual([
      MAX_WAIT,
      ...others
    ]);
  });
});

describe('the forecast on spot instances', () => {
  beforeEach(() => {
    show({ max_runtime_s: 86400 });
  });

  it('asks for what it needs before it asks Python', () => {
    button(element, 'Forecast on spot').click();

    expect(model.sent).toEqual([]);
    expect(document.activeElement).toBe(labelled(element, MEAN));
    expect(labelled(element, PRICE).getAttribute('aria-invalid')).toBe('true');
  });

  it('sends the job and what was entered', () => {
    type(labelled(element, 'Deadline, seconds from the launch'), '9000');
    ask();

    expect(model.sent).toMatchObject([
      {
        type: 'spot-forecast',
        question: {
          job: { entry_point: 'train.py', cluster: CLUSTER },
          mean_time_between_s: 7200,
          deadline_s: 9000,
          spot_usd_per_hour: { 'ml.p3.2xlarge': 1.3 },
          on_demand_usd_per_hour: {}
        }
      }
    ]);
    expect(status()).toBe('Forecasting …');
  });

  it('shows policies, marks the best one, and puts one into the job', () => {
    type(labelled(element, 'Deadline, seconds from the launch'), '9000');
    ask();
    answer({
      best: 'spot only',
      about: ['2 h of work.'],
      advice: ['Means.', 'Take spot only.'],
      policies: [
        policy('on-demand', false, 10),
        { ...policy('spot only', true, 3), deadline_probability: 0.08 },
        policy('uniform progress', null, 4)
      ]
    });

    const rows = [...element.querySelectorAll('tbody tr')];
    expect(rows.map(row => row.querySelectorAll('button').length)).toEqual([
      1, 1, 0
    ]);
    expect(rows[1]?.textContent).toContain('recommended');
    expect(rows[2]?.textContent).toContain('≥ $4.00');
    expect(rows[1]?.textContent).toContain('$2.70–$3.60');
    expect(rows[0]?.textContent).toContain('> 99.5 %');
    expect(element.querySelector('caption')?.textContent).toContain(
      'Predicted'
    );
    button(element, 'Use this: spot only').click();
    expect(job.rest).toMatchObject({
      use_spot_instances: true,
      max_wait: 9000,
      max_runtime_s: 9000
    });
    expect(status()).toContain('The job has it now');
    expect(status()).toContain('92 % are stopped before their end');
    button(element, 'Use this: on-demand').click();
    expect(status()).not.toContain('before their end');
    expect(job.rest).toMatchObject({
      use_spot_instances: false,
      max_wait: null
    });
  });

  it('says that it is of another job once that is changed', () => {
    ask();
    answer({ policies: [policy('on-demand', false, 10)], best: 'on-demand' });
    expect(status()).toBe('Forecast.');

    section.update({ job: parseJob({ ...JOB, max_steps: 3 }) });

    expect(status()).toContain('Forecast again');
  });

  it('shows no answer after Stop, nor one of another form', () => {
    ask();
    model.set('spot_answer', { version: 1, asked: 'other', best: 'x' });
    expect(status()).toBe('Forecasting …');
    button(element, 'Stop').click();
    answer({ policies: [policy('on-demand', false, 10)], best: 'on-demand' });

    expect(element.querySelector('table')).toBe(null);
    expect(status()).toContain('Stopped');
  });

  it('tells why nothing is forecast, at the field if it is of one', () => {
    ask();
    answer({ problem: 'No run of train.py is completed.' });
    expect(element.querySelector('[role=alert]')?.textContent).toContain(
      'No run of train.py'
    );
    button(element, 'Forecast on spot').click();
    answer({ problem: 'save_s is not given. Give the seconds.' });

    const save = labelled(element, 'One save, seconds');
    expect(save.closest('.smtc-field')?.textContent).toContain(
      'save_s is not given'
    );
    expect(save.closest('details')?.open).toBe(true);
    expect(document.activeElement).toBe(save);
  });

  it('listens to its model no longer once it is gone', () => {
    const before = model.numCallbacks;
    section.dispose();

    expect(model.numCallbacks).toBe(before - 1);
  });
});

/**
 * A model whose host brings the part, or fails to.
 */
class HostModel extends FakeModel {
  bring: () => unknown = () => ({ spotSection });

  override send(message: unknown): void {
    super.send(message);
    if ((message as { type: string }).type === 'spot-part') {
      this.tell('msg:custom', { type: 'other' });
      this.tell('msg:custom', { type: 'spot-part', module: this.bring() });
    }
  }
}

describe('the place of that part', () => {
  function opened(problems: readonly string[] = []): HTMLDetailsElement {
    all = new HostModel({
      value: [JOB],
      problems: [problems],
      catalog: catalogJson
    });
    setUps = new SetUps(all);
    document.body.replaceChildren(setUps.element);
    return [...setUps.element.querySelectorAll('details')].find(
      each => each.firstElementChild?.textContent === 'Interruptions'
    ) as HTMLDetailsElement;
  }

  let all: HostModel;
  let setUps: SetUps;

  it('loads it when it is unfolded, once, and tells of a failure', async () => {
    const details = opened();
    const unfold = async (): Promise<void> => {
      details.dispatchEvent(new Event('toggle'));
      await new Promise(resolve => setTimeout(resolve));
    };
    all.bring = (): never => {
      throw new Error('no way there');
    };

    expect(all.sent).toHaveLength(0);
    await unfold();
    expect(details.textContent).toContain('no way there');
    all.bring = () => ({ spotSection });
    await unfold();
    await unfold();

    expect(all.sent).toHaveLength(2);
    labelled(setUps.element, 'Train on spot instances').click();
    expect(all.get('value')).toMatchObject([{ use_spot_instances: true }]);
  });

  it('is opened where Python finds a problem there', () => {
    expect(opened([MAX_WAIT]).open).toBe(true);
    expect(problemsIn(setUps.element)).not.toContain(MAX_WAIT);
  });
});
