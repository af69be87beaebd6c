import type {
  Catalog,
  IComparisonInfo,
  ICluster,
  ILaunchInfo,
  IPicturedGroup,
  ISetUpInfo
} from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { EMPTY, type IFilling } from '../picture/shares.js';
import { still } from '../picture/still.js';
import { pictureNumbers } from './picture_numbers.js';
import { isSearch } from './rounds.js';

const WIDTH = 330;

/**
 * The clusters as pictures, filled as far as their parts were busy in the measured steps so far:
 * the same as in the designer. One that has not run is filled as predicted, and pale; what was
 * not predicted either is empty.
 */
export function pictures(): IPart<IComparisonInfo> {
  const row = h('div', { class: 'smtc-pictures' });
  return drawn(row, info => {
    const { setUps, ended } = info;
    const numbers = pictureNumbers(info);
    row.classList.toggle('smtc-still', ended);
    if (ended && isSearch(info)) {
      return [];
    }
    return setUps.flatMap((setUp, place) =>
      setUp.groups.length === 0
        ? []
        : [
            picture(
              setUp,
              place,
              standing(setUp, newestOf(info, place), ended),
              numbers[place] ?? null
            )
          ]
    );
  });
}

function picture(
  setUp: ISetUpInfo,
  place: number,
  stands: string,
  numbers: HTMLElement | null
): HTMLElement {
  const { label, groups } = setUp;
  return h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      setUpMark(place),
      ` ${letterOf(place)} `,
      h('strong', {}, label),
      h('span', { class: 'smtc-soft' }, ` ${stands}`)
    ),
    h(
      'div',
      {
        class: setUp.use === null ? 'smtc-scroll smtc-pale' : 'smtc-scroll',
        tabindex: 0,
        role: 'region',
        'aria-label': label
      },
      still(clusterOf(groups), catalogOf(groups), WIDTH, fillingOf(setUp))
    ),
    numbers
  );
}

function newestOf(
  { launched }: IComparisonInfo,
  place: number
): ILaunchInfo | undefined {
  return launched.filter(({ setUp }) => setUp === place).at(-1);
}

/**
 * Say how far a set-up is: of one that was not measured, what became of its launch.
 */
function standing(
  { stepTimeS }: ISetUpInfo,
  newest: ILaunchInfo | undefined,
  ended: boolean
): string {
  if (stepTimeS !== null) {
    return ended ? '' : t('so far');
  }
  switch (newest?.state) {
    case undefined:
      return t('has not run');
    case 'Failed':
      return t('not measured: its launch failed');
    case 'Stopping':
    case 'Stopped':
      return t('not measured: its launch was stopped');
    case 'Completed':
      return t('not measured: its launch took no step');
    default:
      return newest?.steps === 0 ? t('starting') : t('warming up');
  }
}

function fillingOf({ groups, use, foretold, stepTimeS }: ISetUpInfo): IFilling {
  const predicted = foretold?.use ?? null;
  const usedDevices =
    groups.find(({ role }) => role === 'train')?.trainers ?? null;
  return use === null
    ? { ...EMPTY, usedDevices, shares: predicted ?? EMPTY.shares }
    : {
        ...EMPTY,
        usedDevices,
        shares: use,
        predicted,
        stepsPerS: stepTimeS === null ? null : 1 / stepTimeS
      };
}

function clusterOf(groups: readonly IPicturedGroup[]): ICluster {
  return {
    name: null,
    groups: groups.map(group => ({
      name: group.instanceGroupName,
      instanceType: group.instanceType,
      count: group.instanceCount,
      role: group.role,
      runs: null
    }))
  };
}

/**
 * Return what a comparison says of its types: what is compared may be of another catalog.
 */
function catalogOf(groups: readonly IPicturedGroup[]): Catalog {
  return new Map(
    groups.flatMap(group =>
      group.vcpus === null
        ? []
        : [
            [
              group.instanceType,
              {
                name: group.instanceType,
                vcpus: group.vcpus,
                memoryGib: group.memoryGib ?? 0,
                accelerator: group.accelerator,
                acceleratorCount: group.acceleratorCount,
                acceleratorMemoryGib: null,
                networkGbps: group.networkGbps,
                price: null
              }
            ] as const
          ]
    )
  );
}
