import {
  NO_ENVIRONMENTS,
  TODAY,
  type IEnvironmentChoice,
  type IEnvironments
} from '@smtc-lab/protocol';
import { bounded } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, isSameJson, type IComponent } from './component.js';
import { Field } from './field.js';

/**
 * The Python environment of a job.
 */
export interface IEnvironmentFieldProps {
  /**
   * Its name; null: the one that launches.
   */
  readonly value: string | null;

  readonly environments: IEnvironments;

  /**
   * What Python found wrong with it.
   */
  readonly problems: readonly string[];

  readonly onChange: (name: string | null) => void;

  /**
   * Look for environments that were made or removed meanwhile.
   */
  readonly onOpen: () => void;
}

/**
 * Make the choice of a Python environment. Those that no job can run in are there too, and why.
 */
export function environmentField(
  host: HTMLElement,
  props: IEnvironmentFieldProps
): IComponent<IEnvironmentFieldProps> {
  return new EnvironmentField(host, props);
}

class EnvironmentField extends Component<IEnvironmentFieldProps> {
  constructor(host: HTMLElement, props: IEnvironmentFieldProps) {
    super(props);
    this.element = h(
      'div',
      { class: 'smtc-environment' },
      this._field.element,
      this._unusable
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { environments, problems } = this.props;
    const value = this.props.value ?? TODAY;
    const choices = withChosen(environments.choices, value);
    this._setOptions(choices);
    this._select.value = value;
    this._field.showNote(
      choices.length > 1
        ? ''
        : t(
            'There is no other one yet. ``smtc-lab environment make torch-2.11`` makes one with another version of torch.'
          )
    );
    this._field.showProblems(problems);
    this._showUnusable(
      choices.filter(
        ({ problem }) => problem !== '' && !problems.includes(problem)
      )
    );
  }

  private _setOptions(choices: readonly IEnvironmentChoice[]): void {
    if (!isSameJson(choices, this._shown)) {
      this._shown = choices; // else an open list would close
      this._select.replaceChildren(
        ...choices.map(choice =>
          h(
            'option',
            { value: choice.name, disabled: choice.problem !== '' },
            optionText(choice)
          )
        )
      );
    }
  }

  private _showUnusable(choices: readonly IEnvironmentChoice[]): void {
    this._unusable.hidden = choices.length === 0;
    this._summary.textContent =
      choices.length === 1
        ? t('Why %1 cannot be chosen', choices[0]?.name ?? '')
        : t('Why %1 environments cannot be chosen', choices.length);
    this._reasons.replaceChildren(
      ...choices.map(({ problem }) => h('li', {}, ...bounded(problem)))
    );
  }

  private readonly _select = h('select', {
    onfocus: () => {
      this.props.onOpen();
    },
    onchange: () => {
      const { value } = this._select;
      this.props.onChange(value === TODAY ? null : value);
    }
  });
  private readonly _field = new Field(t('Python environment'), this._select);
  private readonly _summary = h('summary');
  private readonly _reasons = h('ul', { class: 'smtc-reasons' });
  private readonly _unusable = h(
    'details',
    { class: 'smtc-note smtc-unusable' },
    this._summary,
    this._reasons
  );
  private _shown = NO_ENVIRONMENTS.choices;
}

/**
 * Return the choices with the one that launches and the chosen one, known or not.
 */
function withChosen(
  choices: readonly IEnvironmentChoice[],
  chosen: string
): readonly IEnvironmentChoice[] {
  const missing = new Set([TODAY, chosen]);
  choices.forEach(({ name }) => missing.delete(name));
  const unknown = [...missing].map(name => ({
    name,
    torch: null,
    torchXla: null,
    problem: '',
    noXla: ''
  }));
  return [
    ...unknown.filter(({ name }) => name === TODAY),
    ...choices,
    ...unknown.filter(({ name }) => name !== TODAY)
  ];
}

/**
 * Write an environment with its versions: `xla (torch 2.9.1, torch_xla 2.9.0)`.
 */
function optionText(choice: IEnvironmentChoice): string {
  if (choice.problem !== '') {
    return t('%1 (cannot be used)', choice.name);
  }
  const versions = [
    choice.torch === null ? '' : `torch ${choice.torch}`,
    choice.torchXla === null ? '' : `torch_xla ${choice.torchXla}`
  ].filter(text => text !== '');
  return versions.length === 0
    ? choice.name
    : `${choice.name} (${versions.join(', ')})`;
}
