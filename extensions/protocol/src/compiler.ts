import type { TrainingCompilerConfig } from './generated/training_job.js';
import { objectOf, type JsonObject } from './read.js';
import { $defs } from '../schema/training_job.json';

/**
 * Compiler settings of a job, every one with a value.
 *
 * The wire form of `smtc_lab.spec.compiler.TrainingCompilerConfig`, whose names the forms, the
 * code that they write and the documentation share.
 */
export type CompilerConfig = Required<TrainingCompilerConfig>;

/**
 * Name of a compiler setting.
 */
export type CompilerSetting = keyof CompilerConfig;

const PROPERTIES: Readonly<
  Record<CompilerSetting, { default: unknown; description: string }>
> = $defs.TrainingCompilerConfig.properties;

/**
 * The values of settings that are not given.
 */
export const COMPILER_DEFAULTS = Object.fromEntries(
  Object.entries(PROPERTIES).map(([name, field]) => [name, field.default])
) as CompilerConfig;

/**
 * The words that some settings choose among.
 */
export const COMPILER_WORDS = {
  backend: $defs.TrainingCompilerConfig.properties.backend.enum,
  precision: $defs.TrainingCompilerConfig.properties.precision.enum,
  mode: $defs.TrainingCompilerConfig.properties.mode.enum,
  fallback: $defs.TrainingCompilerConfig.properties.fallback.enum
} as const;

/**
 * Longest compile time limit, in seconds.
 */
export const MAX_TIMEOUT_S =
  $defs.TrainingCompilerConfig.properties.timeout_s.maximum;

/**
 * Read compiler settings, legal or not. Null: there are none, and the step is plain PyTorch.
 *
 * @throws {@link ProtocolError} when it is neither an object nor null.
 */
export function parseCompilerConfig(json: unknown): CompilerConfig | null {
  if (json === null || json === undefined) {
    return null;
  }
  const given: JsonObject = objectOf(json, 'Compiler settings');
  const known = Object.entries(given).filter(([name]) => name in PROPERTIES);
  return { ...COMPILER_DEFAULTS, ...Object.fromEntries(known) };
}

/**
 * What a setting means, in the words of its documentation.
 */
export function compilerHelp(setting: CompilerSetting): string {
  return PROPERTIES[setting].description.replaceAll('\n', ' ');
}

const OF_INDUCTOR = new Set<CompilerSetting>([
  'cache',
  'dynamic',
  'mode',
  'per_block'
]);

/**
 * Return why a setting is without effect beside the others, in one sentence; null: it has one.
 */
export function whyWithoutEffect(
  setting: CompilerSetting,
  config: CompilerConfig | null
): string | null {
  if (config === null) {
    return 'Without effect: the step runs as plain PyTorch.';
  }
  if (setting === 'enabled' || (setting === 'backend' && config.enabled)) {
    return null;
  }
  if (!config.enabled) {
    return 'Without effect: the step is not handed to the compiler.';
  }
  const { backend } = config;
  if (OF_INDUCTOR.has(setting) && !['auto', 'inductor'].includes(backend)) {
    return `Without effect under ${backend}: only inductor has it.`;
  }
  if (setting === 'fused_optimizer' && backend === 'xla') {
    return 'Without effect under xla, which compiles the optimizer with the step.';
  }
  if (
    ['debug', 'fallback', 'timeout_s'].includes(setting) &&
    backend === 'eager'
  ) {
    return 'Without effect under eager: nothing is compiled.';
  }
  return null;
}
