import type { ICluster } from '@smtc-lab/protocol';
import { describe, expect, it, vi } from 'vitest';
import { clusterEditor } from '../src/picture/cluster_editor.js';
import { clusterPicture } from '../src/picture/cluster_picture.js';
import { BOX_WIDTH, boxLayout, layoutOf } from '../src/picture/layout.js';
import { EMPTY, type IFilling } from '../src/picture/shares.js';
import { still } from '../src/picture/still.js';
import { bottleneckText } from '../src/picture/words.js';
import { button, catalog, clusterOf, host } from './forms_kit.js';
import { HOSTILE, markupOf } from './hostile.js';

const ALONE = clusterOf(['dnn_group', 'ml.p3.2xlarge']);
const PAIR = clusterOf(
  ['dnn_group', 'ml.p3.2xlarge'],
  ['data_group', 'ml.c5.9xlarge']
);
const FILLED: IFilling = {
  shares: { trainerCpu: 0.5, dataCpu: 0.75, device: 0.25, network: 0.1 },
  predicted: null,
  bottleneck: 'dataCpu',
  limitingWorkers: null,
  advice: '',
  usedDevices: null,
  stepsPerS: 4
};

function picture(
  cluster: ICluster,
  more: Partial<{ baseline: ICluster }> = {}
) {
  const root = host();
  const onChange = vi.fn<(cluster: ICluster) => void>();
  const component = clusterPicture(root, {
    cluster,
    catalog,
    onChange,
    ...more
  });
  const last = (): ICluster => onChange.mock.lastCall?.[0] as ICluster;
  const handle = (): HTMLElement =>
    root.querySelector('[role=slider]') as HTMLElement;
  return { root, component, onChange, last, handle };
}

describe('the layout of a picture', () => {
  it('has what prepares data at the left and what trains at the right', () => {
    const { columns, emptyX } = layoutOf(PAIR, catalog, 400);

    expect(columns.map(({ group }) => group.name)).toEqual([
      'data_group',
      'dnn_group'
    ]);
    expect(emptyX).toBeNull();
  });

  it('calls instances as a run does: in the order of the groups', () => {
    const { columns } = layoutOf(PAIR, catalog, 400);

    expect(
      columns.flatMap(({ boxes }) => boxes.map(({ host }) => host))
    ).toEqual(['algo-2', 'algo-1']);
  });

  it('has a place for data instances where there are none', () => {
    expect(layoutOf(ALONE, catalog, 400).emptyX).toBe(0);
  });

  it('draws a few of many instances, and counts the others', () => {
    const many = {
      ...ALONE,
      groups: ALONE.groups.map(group => ({ ...group, count: 64 }))
    };
    const [column] = layoutOf(many, catalog, 400).columns;

    expect(column?.boxes).toHaveLength(3);
    expect(column?.numMore).toBe(61);
  });

  it('gives every vCPU of every type a cell inside its box', () => {
    for (const type of catalog.values()) {
      const at = boxLayout(type);
      const rows = Math.ceil(type.vcpus / at.cellsInRow);
      expect(at.cellsHeight).toBeCloseTo(rows * at.pitch);
      expect(at.cellsY + at.cellsHeight).toBeLessThan(at.height);
      expect(at.height).toBeLessThan(320);
    }
  });
});

describe('a still', () => {
  it('fills as many cells as vCPUs are busy', () => {
    const drawn = still(PAIR, catalog, 400, FILLED);

    const cells = [...drawn.querySelectorAll('.smtc-cpu .smtc-busy')].map(
      path => (path.getAttribute('d') ?? '').split('M').length - 1
    );
    // 36 vCPUs at 75 %, 8 at 50 %
    expect(cells).toEqual([27, 4]);
    expect(drawn.querySelectorAll('.smtc-cpu .smtc-idle')).toHaveLength(2);
  });

  it('fills a device as far as it is busy, and marks what was predicted', () => {
    const drawn = still(PAIR, catalog, 400, {
      ...FILLED,
      predicted: { ...FILLED.shares, device: 0.5 }
    });

    const [device] = drawn.querySelectorAll('.smtc-device .smtc-busy');
    expect(device?.getAttribute('height')).toBe('6');
    expect(drawn.querySelectorAll('.smtc-level')).toHaveLength(1);
  });

  it('leaves devices empty that no trainer has', () => {
    const eight = clusterOf(['dnn_group', 'ml.p4d.24xlarge']);
    const filled = (usedDevices: number | null): number =>
      still(eight, catalog, 400, { ...FILLED, usedDevices }).querySelectorAll(
        '.smtc-device .smtc-busy'
      ).length;

    expect([filled(null), filled(8), filled(1)]).toEqual([8, 8, 1]);
  });

  it('has one ring, round what the steps wait for', () => {
    for (const bottleneck of [
      'trainerCpu',
      'dataCpu',
      'device',
      'network'
    ] as const) {
      const drawn = still(PAIR, catalog, 400, { ...FILLED, bottleneck });
      expect(drawn.querySelectorAll('.smtc-bottleneck')).toHaveLength(1);
    }
  });

  it('has the ring round the vCPUs of data workers alone, where those are too few', () => {
    const widthOf = (limitingWorkers: number | null): number =>
      Number(
        still(ALONE, catalog, 400, {
          ...FILLED,
          bottleneck: limitingWorkers === null ? 'trainerCpu' : 'workers',
          limitingWorkers
        })
          .querySelector('.smtc-bottleneck')
          ?.getAttribute('width')
      );

    expect(widthOf(2)).toBeLessThan(widthOf(4));
    expect(widthOf(4)).toBeLessThan(widthOf(null));
    expect(widthOf(0)).toBe(widthOf(1));
  });

  it('says of too few data workers what a plan says, and not that vCPUs are full', () => {
    const layout = layoutOf(ALONE, catalog, 400);
    const advice = "Raise num_workers of the script's dataloader from 2 to 8.";
    const few = { ...FILLED, bottleneck: 'workers', advice } as const;
    const said = (limitingWorkers: number): string =>
      bottleneckText({ ...few, limitingWorkers }, layout);

    expect(said(2)).toBe(
      `CPU-bound: 2 data workers feed 25 % of the devices. ${advice}`
    );
    expect(said(1)).toContain('1 data worker feeds 25 %');
    expect(said(0)).toContain('the trainers, which prepare their samples');
  });

  it('claims nothing of what is not known', () => {
    const drawn = still(PAIR, catalog, 400, EMPTY);

    expect(
      drawn.querySelector('.smtc-busy, .smtc-bottleneck, .smtc-flow')
    ).toBeNull();
    expect(drawn.getAttribute('aria-label')).toBe(
      '1 × ml.c5.9xlarge prepares data, 1 × ml.p3.2xlarge trains.'
    );
  });

  it('says what the steps wait for', () => {
    expect(
      still(PAIR, catalog, 400, FILLED).getAttribute('aria-label')
    ).toContain(
      'Bottleneck: the vCPUs of the data instances are full. Devices wait 75 % of the time.'
    );
  });
});

describe('a picture that is edited', () => {
  it('centres what goes from trainer to trainer with its columns', () => {
    const groups = PAIR.groups.map(group => ({ ...group, count: 2 }));
    const { root } = picture({ ...PAIR, groups });
    const { style } = root.querySelector('.smtc-picture-grid') as HTMLElement;
    const { gap, width } = layoutOf({ ...PAIR, groups }, catalog, 360);

    const columns = 2 * BOX_WIDTH + gap;
    expect(style.paddingRight).toBe(`${width - columns}px`);
    expect(width).toBeGreaterThan(columns);
  });

  it('counts with buttons, and not below one', () => {
    const { root, last } = picture(PAIR);

    button(root, 'One more instance in data_group').click();
    expect(last().groups[1]?.count).toBe(2);
    button(root, 'One instance less in data_group').click();
    expect(last().groups[1]?.count).toBe(1);
    expect(button(root, 'One instance less in data_group').disabled).toBe(true);
  });

  it('counts with the arrow keys on its handle', () => {
    const { handle, last } = picture(PAIR);

    for (const key of ['ArrowUp', 'PageUp', 'ArrowDown']) {
      handle().dispatchEvent(new KeyboardEvent('keydown', { key }));
    }

    expect(last().groups[1]?.count).toBe(5);
    expect(handle().getAttribute('aria-valuenow')).toBe('5');
  });

  it('counts by how far its handle is dragged, while the page scrolls', () => {
    const { handle, last } = picture(PAIR);
    const element = handle();
    element.setPointerCapture = vi.fn();
    const top = vi.spyOn(
      element.parentElement as HTMLElement,
      'getBoundingClientRect'
    );
    const pointer = (type: string, clientY: number): boolean =>
      element.dispatchEvent(new MouseEvent(type, { clientY }));

    top.mockReturnValue(new DOMRect(0, 700, 500, 300));
    pointer('pointerdown', 900);
    top.mockReturnValue(new DOMRect(0, 100, 500, 300));
    pointer('pointermove', 300);
    expect(handle().getAttribute('aria-valuenow')).toBe('1');
    pointer('pointermove', 480);

    expect(last().groups[1]?.count).toBeGreaterThan(2);
    pointer('pointerup', 480);
    pointer('pointermove', 900);
    expect(String(last().groups[1]?.count)).toBe(
      handle().getAttribute('aria-valuenow')
    );
  });

  it('keeps the handle that has the focus while the count changes', () => {
    const { root, handle } = picture(PAIR);
    const before = handle();

    before.focus();
    before.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }));

    expect(root.ownerDocument.activeElement).toBe(before);
    expect(handle()).toBe(before);
  });

  it('adds data instances at the empty place', () => {
    const { root, last } = picture(ALONE);

    button(root, '+ data instances').click();

    expect(last().groups.map(({ name, role }) => [name, role])).toEqual([
      ['dnn_group', null],
      ['data_group', null]
    ]);
    expect(root.querySelector('.smtc-empty')?.hasAttribute('hidden')).toBe(
      true
    );
  });

  it('adds data instances for trainers without a device, by their role', () => {
    const { root, last } = picture(clusterOf(['cpu', 'ml.c5.2xlarge']));

    button(root, '+ data instances').click();

    expect(last().groups[1]?.role).toBe('data');
  });

  it('duplicates and removes a group', () => {
    const { root, last } = picture(PAIR);

    button(root, 'Duplicate data_group').click();
    expect(last().groups.map(({ name }) => name)).toEqual([
      'dnn_group',
      'data_group',
      'data_group_2'
    ]);
    button(root, 'Remove data_group_2').click();
    expect(last().groups).toHaveLength(2);
  });

  it('says what sets a group apart from that of the baseline', () => {
    const twice = {
      ...PAIR,
      groups: PAIR.groups.map(group => ({ ...group, count: 2 }))
    };
    const { root } = picture(twice, { baseline: ALONE });

    const told = [...root.querySelectorAll('.smtc-difference')].map(
      each => each.textContent
    );
    expect(told).toEqual(['not in A', 'A has 1']);
  });

  it('shows names as text, whatever is in them', () => {
    const { root } = picture(clusterOf(['harmless', 'ml.unknown.type']));
    const harmless = markupOf(root);

    for (const text of HOSTILE) {
      expect(markupOf(picture(clusterOf([text, text])).root)).toEqual(harmless);
    }
  });

  it('says what is wrong once, whichever way it is looked at', () => {
    const root = host();
    const cluster = clusterOf(['a b', 'ml.p3.2xlarge']);
    const props = { cluster, catalog, onChange: vi.fn() };
    const editor = clusterEditor(root, { ...props, look: 'picture' });
    const problems = (): number =>
      root.querySelectorAll('.smtc-problem').length;

    expect(problems()).toBe(1);
    editor.update({ look: 'form' });
    expect(problems()).toBe(1);
    expect(root.querySelector('.smtc-picture')).toBeNull();
  });
});
