/**
 * What a chart is about, where it is not among the first ones of a page.
 */
export type Subject =
  | 'utilization'
  | 'data'
  | 'network'
  | 'ratios'
  | 'launches';
