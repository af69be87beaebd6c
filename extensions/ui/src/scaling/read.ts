import {
  readOnce,
  readWire,
  type IComparisonInfo,
  type IScalingInfo
} from '@smtc-lab/protocol';

const read = readOnce(json => readWire('ScalingInfo', json));

/**
 * Return how the job of a study grows with its devices; null: it does not tell.
 */
export function scalingOf({ sections }: IComparisonInfo): IScalingInfo | null {
  const section = sections.find(({ name }) => name === 'scaling');
  return section === undefined ? null : read(section.values);
}
