import { $defs } from '../schema/training_job.json';

const FIELDS = $defs.EmulatedLink.properties;

/**
 * Latencies of a declared network that are not given, in seconds, as
 * `smtc_lab.spec.emulation.EmulatedLink` has them.
 */
export const LINK_LATENCY_S = {
  between: FIELDS.between_latency_s.default,
  inside: FIELDS.inside_latency_s.default
} as const;
