import {
  pythonRepr,
  type IInterval,
  type IPricedTrial,
  type ITuningInfo
} from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { format } from '../charts/units.js';
import { button, copied, h } from '../dom.js';
import { INSERT_EVENT, type IInsertDetail } from '../forms/insert_event.js';
import { t } from '../i18n.js';
import { column, table } from '../monitor/table.js';
import { letterOf, setUpMark, setUpShape } from '../picture/set_up_mark.js';
import { s } from '../plan/svg.js';
import { axisOf, Figure, plot, type IPixels } from './plot.js';

const HEIGHT = 280;
const HALF = 7;

/**
 * Trials on clusters by money and objective: hollow, as they are predicted, with their intervals.
 * What nothing beats is joined, and can be launched.
 */
export function pareto(info: () => ITuningInfo | null): Figure {
  const said = h('p', { class: 'smtc-note', role: 'status' });
  return new Figure(
    t('Which model, on which machines, for how much'),
    width => {
      const told = info();
      if (told === null || told.pareto.length === 0) {
        return [];
      }
      const { pareto: points, objective } = told;
      const clusters = [...new Set(points.map(({ cluster }) => cluster))];
      const best = points
        .filter(({ isBest }) => isBest)
        .sort((a, b) => a.usd.mean - b.usd.mean);
      const x = axisOf(
        t('USD of a training, predicted'),
        points.flatMap(({ usd }) => [usd.low, usd.high]),
        'USD'
      );
      const y = axisOf(
        objective,
        points.map(one => one.value)
      );
      const words = t(
        '%1 trials on clusters; %2 are beaten by none: see the table.',
        points.length,
        best.length
      );
      return [
        h(
          'p',
          { class: 'smtc-chart-label' },
          t(
            'hollow: predicted, with its 80 % interval; joined: none is as good and costs less'
          )
        ),
        plot([x, y], [width, HEIGHT], words, pixels =>
          drawn(points, best, clusters, pixels)
        ),
        h(
          'div',
          {
            class: 'smtc-scroll',
            tabindex: 0,
            role: 'region',
            'aria-label': t('What nothing beats')
          },
          table(
            '',
            [
              column(t('Cluster')),
              ...[t('Trial'), objective, t('Cost'), t('Time'), t('Launch')].map(
                name => column(name)
              )
            ],
            best.map(point => [
              h(
                'span',
                {},
                setUpMark(clusters.indexOf(point.cluster)),
                ` ${letterOf(clusters.indexOf(point.cluster))} ${point.cluster}`
              ),
              format(point.trial, 'count'),
              format(point.value, 'number'),
              ends(point.usd, 'USD'),
              ends(point.timeS, 's'),
              launchButton(told.name, point, said)
            ])
          )
        ),
        said
      ];
    }
  );
}

function drawn(
  points: readonly IPricedTrial[],
  best: readonly IPricedTrial[],
  clusters: readonly string[],
  { x, y }: IPixels
): readonly SVGElement[] {
  const at = (one: IPricedTrial): string =>
    `${x(one.usd.mean).toFixed(1)},${y(one.value).toFixed(1)}`;
  return [
    s('polyline', {
      class: 'smtc-plan-front',
      points: best.map(at).join(' ')
    }),
    ...points.map(point => {
      const place = clusters.indexOf(point.cluster);
      const [left, top] = [x(point.usd.mean), y(point.value)];
      const shape = setUpShape(place);
      shape.setAttribute('class', 'smtc-plan-shape');
      shape.setAttribute(
        'transform',
        `translate(${left - HALF} ${top - HALF})`
      );
      return s(
        'g',
        {
          style: `color: ${paletteColor(place)}`,
          ...(point.isBest ? {} : { class: 'smtc-plan-faint' })
        },
        s(
          'title',
          {},
          `${t('Trial %1', point.trial)}, ${point.cluster}: ${ends(point.usd, 'USD')}`
        ),
        s('line', {
          class: 'smtc-plan-band',
          ...{ x1: x(point.usd.low), x2: x(point.usd.high), y1: top, y2: top }
        }),
        shape
      );
    })
  ];
}

function ends({ mean, low, high }: IInterval, unit: 'USD' | 's'): string {
  return t(
    '%1 (%2 to %3)',
    format(mean, unit),
    format(low, unit),
    format(high, unit)
  );
}

/**
 * Return a button that puts the cell which launches a point into the notebook.
 */
function launchButton(
  study: string,
  { trial, cluster }: IPricedTrial,
  said: HTMLElement
): HTMLElement {
  const job = `lab.tuning_job(${pythonRepr(study)}, ${trial}, ${pythonRepr(cluster)})`;
  const code = `import smtc_lab as lab\n\nrun = lab.launch(${job})\nrun\n`;
  const launch = async (): Promise<void> => {
    const asked = new CustomEvent<IInsertDetail>(INSERT_EVENT, {
      ...{ bubbles: true, cancelable: true, composed: true },
      detail: { code }
    });
    if (!pressed.dispatchEvent(asked)) {
      said.textContent = t('The cell was inserted: run it to launch.');
      return;
    }
    const isCopied = await copied(code, said);
    said.textContent = isCopied
      ? t('The cell was copied: paste it into a notebook, and run it.')
      : code;
  };
  const pressed = button(t('Launch'), launch, {
    'aria-label': t('Launch trial %1 on %2', trial, cluster)
  });
  return pressed;
}
