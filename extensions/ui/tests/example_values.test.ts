import { beforeEach, describe, expect, it } from 'vitest';
import { RunBar } from '../src/workbench/run_bar.js';
import { SetUps } from '../src/workbench/set_ups.js';
import { catalogJson, FakeModel, labelled, type } from './forms_kit.js';

const EXAMPLE = '/site-packages/smtc_lab/examples/digits.py';
const JOB = {
  entry_point: EXAMPLE,
  cluster: {
    name: 'one',
    instance_groups: [
      { instance_group_name: 'here', instance_type: 'local', instance_count: 1 }
    ]
  },
  hyperparameters: { batch_size: 32, work: 3 } as Record<string, unknown>,
  compiler_config: null,
  max_steps: 10
};

describe('the hyperparameters of the example', () => {
  let model: FakeModel;
  let page: HTMLElement;

  function show(job: typeof JOB): void {
    model = new FakeModel({
      value: [job, job],
      problems: [[], []],
      catalog: catalogJson,
      rounds: 3,
      info: {},
      start_problem: ''
    });
    const setUps = new SetUps(model);
    page = document.createElement('div');
    page.append(setUps.element, new RunBar(model, setUps).element);
    document.body.replaceChildren(page);
  }

  const values = (): unknown[] =>
    (model.get('value') as (typeof JOB)[]).map(job => job.hyperparameters);
  const chooseScript = (path: string): void => {
    type(labelled(page, 'Training script'), path);
  };

  beforeEach(() => {
    show(JOB);
  });

  it('leave with it, from every set-up and from the field of the batch size', () => {
    const field = labelled(page, 'Batch size');
    expect(field.value).toBe('32');

    chooseScript('/home/me/train.py');

    expect(values()).toEqual([{}, {}]);
    expect(field.value).toBe('');
  });

  it('come back with it', () => {
    chooseScript('/home/me/train.py');
    chooseScript(EXAMPLE);

    expect(values()).toEqual([JOB.hyperparameters, JOB.hyperparameters]);
    expect(labelled(page, 'Batch size').value).toBe('32');
  });

  it('stay where they were typed anew', () => {
    type(labelled(page, 'Value', 1), '5');

    chooseScript('/home/me/train.py');

    expect(values()).toEqual([{ work: 5 }, {}]);
  });

  it('are no other than those of the example', () => {
    show({ ...JOB, entry_point: 'train.py' });

    chooseScript('train_anew.py');

    expect(values()).toEqual([JOB.hyperparameters, JOB.hyperparameters]);
  });
});
