import type { IRunInfo, ISpreadInfo, IWireInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import type { Fact } from '../monitor/facts.js';

const BITS = [
  [1, 'Gbit/s'],
  [1e-3, 'Mbit/s'],
  [1e-6, 'kbit/s']
] as const;

/**
 * Say how a run is spread over trainers, and over which network.
 */
export function spreadFacts({ spread }: IRunInfo): readonly Fact[] {
  return spread === null
    ? []
    : [...(spread.trainers > 1 ? [trainers(spread)] : []), ...network(spread)];
}

function trainers({ trainers: count, replicas, shard }: ISpreadInfo): Fact {
  return [
    t('trainers'),
    format(count, 'count'),
    shard === 1
      ? t('each with the whole model')
      : replicas === 1
        ? t('one replica of the model, on %1 devices', shard)
        : t('%1 replicas of the model, each on %2 devices', replicas, shard)
  ];
}

function network({ between, inside, isRated }: ISpreadInfo): readonly Fact[] {
  const wires = [
    ...(between === null
      ? []
      : [t('between instances %1', wireWords(between))]),
    ...(inside === null ? [] : [t('inside an instance %1', wireWords(inside))])
  ];
  return wires.length === 0
    ? []
    : [
        [
          t('network between trainers'),
          wires.join('; '),
          isRated ? t('of the catalog') : t('declared')
        ]
      ];
}

/**
 * Say what a network takes.
 */
function wireWords({ gbps, latencyS }: IWireInfo): string {
  const [size, unit] = BITS.find(([least]) => gbps >= least) ?? BITS[2];
  return `${format(gbps / size, 'number')} ${unit}, ${format(latencyS, 's')}`;
}
