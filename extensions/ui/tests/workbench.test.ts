import { beforeEach, describe, expect, it } from 'vitest';
import { SetUps, freeName } from '../src/workbench/set_ups.js';
import { ScopedModel } from '../src/workbench/scoped_model.js';
import wire from '../../../tests/fixtures/environments.json';
import forecast from '../../../tests/fixtures/forecast.json';
import {
  catalogJson,
  choice,
  FakeModel,
  JOB,
  labelled,
  problemsIn,
  type
} from './forms_kit.js';

function button(setUps: SetUps, label: string): HTMLButtonElement {
  const found = [...setUps.element.querySelectorAll('button')].find(
    each => (each.getAttribute('aria-label') ?? each.textContent) === label
  );
  if (found === undefined) {
    throw new Error(`there is no button ${label}`);
  }
  return found;
}

describe('the set-ups of the workbench', () => {
  let model: FakeModel;
  let setUps: SetUps;

  beforeEach(() => {
    model = new FakeModel({
      value: [JOB],
      problems: [[]],
      catalog: catalogJson
    });
    setUps = new SetUps(model);
    document.body.replaceChildren(setUps.element);
  });

  const names = (): unknown[] =>
    (model.get('value') as (typeof JOB)[]).map(job => job.cluster.name);

  it('add a copy under a name of its own', () => {
    button(setUps, 'Add a set-up').click();

    expect(names()).toEqual(['one', 'one-2']);
    expect(setUps.element.querySelectorAll('.smtc-set-up')).toHaveLength(2);
  });

  it('are five at most, and one at least', () => {
    for (let i = 0; i < 7; i++) {
      button(setUps, 'Add a set-up').click();
    }

    expect(names()).toHaveLength(5);
    expect(button(setUps, 'Add a set-up').disabled).toBe(true);
  });

  it('cannot be removed when there is one left', () => {
    expect(button(setUps, 'Remove one: baseline').disabled).toBe(true);
  });

  it('move the focus to a neighbour when one is removed', () => {
    button(setUps, 'Add a set-up').click();
    button(setUps, 'Remove one-2: set-up 2').click();

    expect(names()).toEqual(['one']);
    expect(setUps.element.contains(document.activeElement)).toBe(true);
  });

  it('leave a list of types open when there is news', () => {
    const field = setUps.element.querySelector<HTMLInputElement>(
      'input[role=combobox]'
    ) as HTMLInputElement;
    field.click();
    type(field, 'ml.p3.3xl');
    setUps.update();

    expect(field.getAttribute('aria-expanded')).toBe('true');
    expect(field.value).toBe('ml.p3.3xl');
  });

  it('leave devices empty that no trainer would have', () => {
    const groups = [
      {
        instance_group_name: 'train',
        instance_type: 'ml.p4d.24xlarge',
        instance_count: 1
      }
    ];
    const busy = (distribution: unknown): number => {
      const cluster = { name: 'one', instance_groups: groups };
      model.set('value', [{ ...JOB, cluster, distribution }]);
      model.set('forecast', forecast);
      setUps.update();
      return setUps.element.querySelectorAll('.smtc-device .smtc-busy').length;
    };

    expect([busy('auto'), busy(null)]).toEqual([8, 1]);
  });

  it('show what Python has set', () => {
    model.set('value', [
      { ...JOB, cluster: { ...JOB.cluster, name: 'other' } },
      JOB
    ]);
    setUps.update();

    expect(
      [...setUps.element.querySelectorAll('h3')].map(each => each.textContent)
    ).toEqual(['other: baseline', 'one: set-up 2']);
  });
});

describe('the Python environment of a set-up', () => {
  let model: FakeModel;
  let setUps: SetUps;

  beforeEach(() => {
    model = new FakeModel({
      value: [JOB],
      problems: [[]],
      catalog: catalogJson,
      environments: wire
    });
    setUps = new SetUps(model);
    document.body.replaceChildren(setUps.element);
  });

  it('is saved with the job, and stands in its title', () => {
    type(choice(setUps.element, 'Python environment'), 'torch-2.9');

    expect(model.get('value')).toMatchObject([
      { python_environment: 'torch-2.9' }
    ]);
    expect(setUps.element.querySelector('h3')?.textContent).toBe(
      'one, torch-2.9: baseline'
    );
  });

  it('has its problem beside it, and not at the cluster', () => {
    const problem = "There is no environment named 'gone'. Make it.";
    model.set('value', [{ ...JOB, python_environment: 'gone' }]);
    model.set('problems', [[problem]]);
    setUps.update();

    expect(problemsIn(setUps.element)).toEqual([problem]);
    expect(
      setUps.element.querySelector('.smtc-environment')?.textContent
    ).toContain(problem);
  });

  it('without XLA unfolds the compiler, which says it once', () => {
    const compiler_config = { backend: 'xla' };
    model.set('value', [{ ...JOB, compiler_config }]);
    model.set('problems', [[wire.no_xla]]);
    setUps.update();

    const compiler = [...setUps.element.querySelectorAll('details')].find(
      part => part.querySelector('summary')?.textContent === 'Compiler'
    );
    expect(compiler?.open).toBe(true);
    expect(problemsIn(setUps.element)).toEqual([wire.no_xla]);
    button(setUps, 'Make it').click();
    expect(model.sent).toEqual([{ type: 'make-xla' }]);
  });
});

describe('the arguments of a set-up', () => {
  it('are saved with the job, also a line that is not closed yet', () => {
    const model = new FakeModel({
      value: [JOB],
      problems: [[]],
      catalog: catalogJson
    });
    const setUps = new SetUps(model);
    document.body.replaceChildren(setUps.element);
    const line = labelled(setUps.element, 'Arguments');

    type(line, "--dummy 'a b'");
    expect(model.get('value')).toMatchObject([
      { arguments: ['--dummy', 'a b'] }
    ]);

    type(line, "--dummy 'a b");
    expect(model.get('value')).toMatchObject([{ arguments: "--dummy 'a b" }]);
    model.set('problems', [['TrainingJob.arguments="--d" must be a list.']]);
    setUps.update();
    expect(problemsIn(setUps.element)).toEqual([
      expect.stringContaining("The quote ' is not closed.")
    ]);
    button(setUps, 'Copy one: baseline').click();
    const parts = [...setUps.element.querySelectorAll('details')].filter(
      part => part.open && part.textContent.includes('Arguments')
    );
    expect(parts, 'unfolded in the first one').toHaveLength(1);
  });
});

describe('a free name', () => {
  it('counts on from the name that is copied', () => {
    expect(freeName('a', ['a'])).toBe('a-2');
    expect(freeName('a-2', ['a', 'a-2'])).toBe('a-3');
    expect(freeName(null, [null])).toBe('set-up-2');
  });
});

describe('a scoped model', () => {
  it('hears nothing after it was closed', () => {
    const model = new FakeModel({});
    const scope = new ScopedModel(model);
    let heard = 0;
    scope.on('change:x', () => {
      heard += 1;
    });

    model.set('x', 1);
    scope.close();
    scope.close();
    model.set('x', 2);

    expect(heard).toBe(1);
  });
});
