import { parseCatalog, parseCluster, type ICluster } from '@smtc-lab/protocol';
import catalogJson from '../../../tests/fixtures/catalog.json';

export const catalog = parseCatalog(catalogJson);

export { catalogJson };

/**
 * A legal job as JSON.
 */
export const JOB = {
  entry_point: 'train.py',
  cluster: {
    name: 'one',
    instance_groups: [
      { instance_group_name: 'here', instance_type: 'local', instance_count: 1 }
    ]
  },
  hyperparameters: {},
  compiler_config: null,
  max_steps: 10
};

/**
 * An element of the page, as a host hands it out.
 */
export function host(): HTMLElement {
  const element = document.createElement('div');
  document.body.replaceChildren(element);
  return element;
}

/**
 * A cluster of groups that are given as name and type.
 */
export function clusterOf(
  ...groups: readonly (readonly [string, string])[]
): ICluster {
  return parseCluster({
    instance_groups: groups.map(([name, type]) => ({
      instance_group_name: name,
      instance_type: type
    }))
  });
}

/**
 * The control with a label.
 */
export function labelled(
  root: HTMLElement,
  label: string,
  place = 0
): HTMLInputElement {
  const labels = [...root.querySelectorAll('label')].filter(
    each => each.textContent === label
  );
  const found = document.getElementById(labels[place]?.htmlFor ?? '');
  if (found === null) {
    throw new Error(`there is no field ${label} ${place}`);
  }
  return found as HTMLInputElement;
}

/**
 * The select with a label.
 */
export function choice(
  root: HTMLElement,
  label: string,
  place = 0
): HTMLSelectElement {
  return labelled(root, label, place) as HTMLElement as HTMLSelectElement;
}

/**
 * The button with a text, or a name that begins with it.
 */
export function button(root: HTMLElement, text: string): HTMLButtonElement {
  const found = [...root.querySelectorAll('button')].find(each =>
    (each.getAttribute('aria-label') ?? each.textContent).startsWith(text)
  );
  if (found === undefined) {
    throw new Error(`there is no button ${text}`);
  }
  return found;
}

/**
 * Type into a field, as a user does.
 */
export function type(
  control: HTMLInputElement | HTMLSelectElement,
  text: string
): void {
  control.value = text;
  control.dispatchEvent(new Event('input', { bubbles: true }));
  control.dispatchEvent(new Event('change', { bubbles: true }));
}

/**
 * Press a key in a field.
 */
export function press(control: HTMLElement, key: string): void {
  control.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  );
}

/**
 * What is said to be wrong.
 */
export function problemsIn(root: HTMLElement): (string | null)[] {
  return [...root.querySelectorAll('.smtc-problem')].map(
    each => each.textContent
  );
}

export { FakeModel } from './fake_model.js';
