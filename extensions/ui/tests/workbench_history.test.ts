import { beforeEach, describe, expect, it } from 'vitest';
import { History } from '../src/workbench/history.js';
import { SetUps } from '../src/workbench/set_ups.js';
import { button, catalogJson, FakeModel } from './forms_kit.js';

describe('a history', () => {
  let now = 0;
  let history: History<number>;

  beforeEach(() => {
    now = 0;
    history = new History(() => now);
  });

  it('goes back and forth', () => {
    history.leave(1, 'a');
    history.leave(2, 'b');

    expect([history.undo(3), history.undo(2), history.undo(1)]).toEqual([
      2,
      1,
      null
    ]);
    expect([history.redo(1), history.redo(2), history.redo(3)]).toEqual([
      2,
      3,
      null
    ]);
  });

  it('takes what is dragged or typed in one go as one step', () => {
    for (const state of [1, 2, 3]) {
      history.leave(state, 'count');
      now += 100;
    }

    expect(history.undo(4)).toBe(1);
    expect(history.canUndo).toBe(false);
  });

  it('has another step after a pause', () => {
    history.leave(1, 'count');
    now += 5000;
    history.leave(2, 'count');

    expect(history.undo(3)).toBe(2);
  });

  it('forgets what was undone once something else is done', () => {
    history.leave(1, 'a');
    history.undo(2);
    history.leave(1, 'b');

    expect(history.canRedo).toBe(false);
  });
});

const JOB = {
  entry_point: 'train.py',
  cluster: {
    name: 'one',
    instance_groups: [
      {
        instance_group_name: 'dnn_group',
        instance_type: 'ml.p3.2xlarge',
        instance_count: 1
      }
    ]
  },
  hyperparameters: { batch_size: 32 },
  compiler_config: null,
  max_steps: 10
};

describe('set-ups', () => {
  let model: FakeModel;
  let setUps: SetUps;

  beforeEach(() => {
    model = new FakeModel({
      value: [JOB],
      problems: [[]],
      catalog: catalogJson
    });
    setUps = new SetUps(model);
    document.body.replaceChildren(
      setUps.templates.element,
      setUps.steps,
      setUps.element
    );
  });

  const press = (label: string): void => {
    button(document.body, label).click();
  };
  const value = () => model.get('value') as (typeof JOB)[];
  const counts = (): unknown[] =>
    value().flatMap(job =>
      job.cluster.instance_groups.map(group => group.instance_count)
    );

  it('come back as they were, and go again', () => {
    press('One more instance in dnn_group');
    expect(counts()).toEqual([2]);

    press('Undo');
    expect(counts()).toEqual([1]);
    press('Redo');
    expect(counts()).toEqual([2]);
    expect(button(document.body, 'Redo').disabled).toBe(true);
  });

  it('come back after one was removed', () => {
    press('Add a set-up');
    press('Remove one-2');
    press('Undo');

    expect(value().map(job => job.cluster.name)).toEqual(['one', 'one-2']);
    expect(setUps.element.querySelectorAll('.smtc-set-up')).toHaveLength(2);
  });

  it('are undone with the keyboard, but not while a text is typed', () => {
    press('One more instance in dnn_group');
    const undo = (target: Element | null): void => {
      target?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true })
      );
    };

    undo(setUps.element.querySelector('input'));
    expect(counts()).toEqual([2]);
    undo(setUps.element.querySelector('[role=slider]'));
    expect(counts()).toEqual([1]);
  });

  it('come from templates: like the baseline, but for one thing', () => {
    press('+ add data instances');
    press('+ compile');
    press('+ bigger batch');

    const [, fed, compiled, bigger] = value();
    expect(fed?.cluster.instance_groups).toHaveLength(2);
    expect(compiled?.compiler_config).toMatchObject({ enabled: true });
    expect(bigger?.hyperparameters).toEqual({ batch_size: 64 });
    expect(value().map(job => job.cluster.name)).toEqual([
      'one',
      'with data instances',
      'compiled',
      'twice the batch'
    ]);
  });

  it('come from the template of more devices', () => {
    press('+ more devices');
    const [, more] = value() as Record<string, unknown>[];

    expect(more?.['distribution']).toBe('auto'); // as many as there are
    expect(counts()).toEqual([1, 2]);
  });

  it('have no template for what the baseline is already', () => {
    model.set('value', [{ ...JOB, hyperparameters: {}, compiler_config: {} }]);
    setUps.update();

    const bigger = button(document.body, '+ bigger batch');
    expect(bigger.getAttribute('aria-disabled')).toBe('true');
    expect(bigger.title).toContain('no hyperparameter for its batch size');
    const before = model.get('value');
    bigger.click();
    expect(model.get('value')).toEqual(before);
    expect(button(document.body, '+ add data').disabled).toBe(false);
  });
});
