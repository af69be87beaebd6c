import {
  COMPILER_DEFAULTS,
  MAX_TIMEOUT_S,
  noXlaIn,
  whyWithoutEffect,
  type CompilerConfig,
  type CompilerSetting,
  type IEnvironments
} from '@smtc-lab/protocol';
import { Component, type IComponent } from './component.js';
import { settingField, type ISettingField } from './setting_field.js';
import { Field, selectOf } from './field.js';
import { XlaBox } from './xla_box.js';
import { tellProblems } from '../bounded.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { CompilerLadder, type ILadder } from '../ladder/ladder.js';

/**
 * A form for compiler settings.
 */
export interface ICompilerSettingsProps {
  /**
   * Null: the step is plain PyTorch.
   */
  readonly config: CompilerConfig | null;

  /**
   * What Python found wrong.
   */
  readonly problems?: readonly string[];

  readonly environments: IEnvironments;

  /**
   * Name of the Python environment that the settings are for; null: that of the launch.
   */
  readonly pythonEnvironment: string | null;

  /**
   * What was measured of the settings; undefined: nobody can look it up.
   */
  readonly measured?: Pick<ILadder, 'ladder' | 'problem'>;

  /**
   * Have the environment of XLA made.
   */
  readonly onMake: () => void;

  readonly onChange: (config: CompilerConfig | null) => void;
}

const LABELS: Readonly<Record<Exclude<CompilerSetting, 'backend'>, string>> = {
  enabled: mark('Hand the step to the compiler'),
  precision: mark('Precision'),
  fused_optimizer: mark('Fused optimizer'),
  keep_memory: mark('Keep memory'),
  debug: mark('Debug files'),
  mode: mark('Mode'),
  per_block: mark('Layer by layer'),
  dynamic: mark('Any shape'),
  fallback: mark('If it cannot be compiled'),
  timeout_s: mark('Longest compilation, seconds'),
  cache: mark('Cache'),
  check_parity: mark('Check parity')
};

const OFTEN: readonly CompilerSetting[] = [
  'precision',
  'fused_optimizer',
  'keep_memory',
  'debug'
];

const BACKENDS: readonly (readonly [CompilerConfig['backend'] | '', string])[] =
  [
    ['', mark('plain PyTorch, as the script has it')],
    ['auto', mark('auto: measures the others, keeps the best')],
    ['inductor', mark('inductor: torch.compile')],
    ['xla', mark('xla: PyTorch/XLA')],
    ['eager', mark('eager: nothing compiled')]
  ];

function backends(): typeof BACKENDS {
  return BACKENDS.map(([word, label]) => [word, t(label)] as const);
}

/**
 * Make a form for compiler settings. Those without effect are switched off and say why.
 */
export function compilerSettings(
  host: HTMLElement,
  props: ICompilerSettingsProps
): IComponent<ICompilerSettingsProps> {
  return new CompilerSettings(host, props);
}

class CompilerSettings extends Component<ICompilerSettingsProps> {
  constructor(host: HTMLElement, props: ICompilerSettingsProps) {
    super(props);
    for (const [name, label] of Object.entries(LABELS)) {
      const setting = name as keyof typeof LABELS;
      const field = settingField(setting, t(label), value => {
        this._change({ ...this._last, [setting]: value });
      });
      this._fields.set(setting, field);
    }
    this.element = h(
      'div',
      { class: 'smtc-compiler' },
      this._backend.element,
      this._xla.element,
      h('div', { class: 'smtc-settings' }, ...this._elements(true)),
      h(
        'details',
        {},
        h('summary', {}, t('More settings')),
        h('div', { class: 'smtc-settings' }, ...this._elements(false))
      ),
      this._problems,
      this._ladder.element
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { config, problems } = this.props;
    this._last = config ?? this._last;
    this._select.value = config === null ? '' : config.backend;
    this._showXla();
    this._showLadder();
    this._backend.switchOff(
      config === null ? null : whyWithoutEffect('backend', config)
    );
    for (const [setting, field] of this._fields) {
      field.show(this._last[setting], whyWithoutEffect(setting, config));
    }
    const own = timeoutProblem(config);
    this._fields.get('timeout_s')?.showProblems(own === null ? [] : [own]);
    tellProblems(
      this._problems,
      (problems ?? []).filter(text => text !== own)
    );
  }

  private _showLadder(): void {
    const { measured, config } = this.props;
    this._ladder.element.hidden = measured === undefined;
    if (measured !== undefined) {
      this._ladder.show({ ...measured, config });
    }
  }

  private _showXla(): void {
    const { config, environments, pythonEnvironment } = this.props;
    const isWanted =
      config !== null && config.enabled && config.backend === 'xla';
    const reason = noXlaIn(environments, pythonEnvironment);
    this._xla.show(reason, environments, isWanted);
  }

  private _change(config: CompilerConfig | null): void {
    this.props = { ...this.props, config };
    this.show();
    this.props.onChange(config);
  }

  private _elements(isOften: boolean): readonly HTMLElement[] {
    return [...this._fields]
      .filter(([setting]) => OFTEN.includes(setting) === isOften)
      .map(([, field]) => field.element);
  }

  private readonly _select = selectOf(backends(), word => {
    const backend = word as CompilerConfig['backend'];
    this._change(word === '' ? null : { ...this._last, backend });
  });
  private readonly _backend = new Field(t('Compiler'), this._select);
  private readonly _xla = new XlaBox(() => {
    this.props.onMake();
  });
  private readonly _fields = new Map<CompilerSetting, ISettingField>();
  private readonly _ladder = new CompilerLadder();
  private readonly _problems = h('div', { role: 'status' });

  /**
   * What was set comes back when plain PyTorch was only a look aside.
   */
  private _last = COMPILER_DEFAULTS;
}

/**
 * Return what is wrong with the compile time limit, in Python's words; null: nothing.
 */
function timeoutProblem(config: CompilerConfig | null): string | null {
  const seconds: number | null = config?.timeout_s ?? null;
  if (config === null || (seconds !== null && isLegal(seconds))) {
    return null;
  }
  if (seconds === null) {
    return 'TrainingCompilerConfig.timeout_s=None must be a number, not text or a boolean.';
  }
  const shown = Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
  return (
    `timeout_s=${shown} is outside 0 to ${MAX_TIMEOUT_S} seconds. Give the longest time ` +
    'that one compilation may take.'
  );
}

function isLegal(seconds: number): boolean {
  return seconds > 0 && seconds <= MAX_TIMEOUT_S;
}
