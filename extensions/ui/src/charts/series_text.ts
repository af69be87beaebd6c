import { xBins } from './bins.js';
import { DEFAULT_WINDOW } from './layers.js';
import type { ITextTable } from './content.js';
import { nearestRow, type IPlace } from './nearest.js';
import type { IAxis, ISeries, IShade } from './options.js';
import { rollingAt } from './rolling.js';
import { isWithin, lowerBound, type IRange } from './ranges.js';
import { segmentsOf } from './segments.js';
import { format } from './units.js';
import { t } from '../i18n.js';

const MOST_SAID = 3;

/**
 * Axes and title, for texts.
 */
export interface IHeading {
  readonly title: string;
  readonly x: IAxis;
  readonly y: IAxis;

  /**
   * Shaded parts.
   */
  readonly shades: readonly IShade[];
}

/**
 * Return the name of a series with the word for where its numbers come from.
 */
export function fullLabel({ label, evidence }: ISeries): string {
  return `${label} (${t(evidence)})`;
}

/**
 * Return the values of one row, for the tooltip.
 */
export function rowText(
  { y, shades }: IHeading,
  series: ISeries,
  { segment, row }: IPlace
): string {
  const { factor = 1, window = DEFAULT_WINDOW } = series;
  const write = (value = NaN): string => format(value * factor, y.unit);
  const value = write(segment.mean[row]);
  const { width } = segment;
  if (width > 1) {
    const range = t(
      '%1 to %2',
      write(segment.low[row]),
      write(segment.high[row])
    );
    return t('%1 (mean of %2 rows, %3)', value, width, range);
  }
  if (series.as === 'interval') {
    // one round, say, has no spread
    if (Number.isNaN(segment.low[row])) {
      return value;
    }
    return t(
      '%1 (%2 to %3)',
      value,
      write(segment.low[row]),
      write(segment.high[row])
    );
  }
  if (series.as === 'rolling') {
    const { mean, low, high } = rollingAt(segment, row, {
      rows: window,
      without: shades
    });
    if (Number.isNaN(mean)) {
      return value;
    }
    const range = Number.isNaN(low)
      ? ''
      : t(' (%1 to %2)', write(low), write(high));
    return t('%1, mean %2%3', value, write(mean), range);
  }
  return value;
}

/**
 * Return a part of all series as a table: each x where they are few, bins of x where not.
 */
export function seriesTable(
  heading: IHeading,
  series: readonly ISeries[],
  seen: IRange,
  most: number
): ITextTable {
  const { title, x: xAxis, y: yAxis } = heading;
  const head = [xAxis.label, ...series.map(fullLabel)];
  const all = series.map(one => ({ one, segments: segmentsOf(one) }));
  const told = toldShades(heading, seen).map(
    ({ from, label }) =>
      [
        from,
        [format(from, xAxis.unit), label, ...series.slice(1).map(() => '')]
      ] as const
  );
  const withTold = (
    rows: readonly (readonly [number, readonly string[]])[]
  ): readonly (readonly string[])[] =>
    [...told, ...rows]
      .sort(([one], [other]) => one - other)
      .map(([, cells]) => cells);
  const places = placesOf(series, seen, most);
  if (places !== null) {
    return {
      caption: `${title}: ${yAxis.label}`,
      head,
      rows: withTold(
        places.map(x => [
          x,
          [
            format(x, xAxis.unit),
            ...all.map(({ one, segments }) => {
              const place = nearestRow(segments, x);
              return place === null || place.segment.x[place.row] !== x
                ? ''
                : rowText(heading, one, place);
            })
          ]
        ])
      )
    };
  }
  const bins = all.map(({ segments }) => xBins(segments, seen, most));
  const step = (seen.to - seen.from) / most;
  const cell = (place: number, bin: number): string => {
    const { mean, low, high } = bins[place] as (typeof bins)[number];
    const write = (value = NaN): string =>
      format(value * (series[place]?.factor ?? 1), yAxis.unit);
    return Number.isNaN(mean[bin])
      ? ''
      : t('%1 (%2 to %3)', write(mean[bin]), write(low[bin]), write(high[bin]));
  };
  return {
    caption: t(
      '%1: %2, mean (least to greatest) of the rows from each %3 on',
      title,
      yAxis.label,
      xAxis.label
    ),
    head,
    rows: withTold(
      Array.from({ length: most }, (_, bin) => [
        seen.from + bin * step,
        [
          format(seen.from + bin * step, xAxis.unit),
          ...bins.map((_bins, place) => cell(place, bin))
        ]
      ])
    )
  };
}

/**
 * Return all rows that are kept, as lines of a CSV file.
 */
export function* seriesCsv(
  { x, y }: IHeading,
  series: readonly ISeries[]
): Generator<readonly (string | number)[]> {
  const head = ['series', 'evidence', 'rows', withUnit(x), withUnit(y)];
  yield [...head, 'low', 'high'];
  for (const one of series) {
    const { factor = 1 } = one;
    for (const segment of segmentsOf(one)) {
      const hasRange = segment.low !== segment.mean;
      for (let row = 0; row < segment.x.length; row++) {
        yield [
          one.label,
          one.evidence,
          segment.width,
          segment.x[row] ?? NaN,
          (segment.mean[row] ?? NaN) * factor,
          hasRange ? (segment.low[row] ?? NaN) * factor : '',
          hasRange ? (segment.high[row] ?? NaN) * factor : ''
        ];
      }
    }
  }
}

/**
 * Say in a sentence what a part of all series shows.
 */
export function seriesSummary(
  heading: IHeading,
  series: readonly ISeries[],
  seen: IRange
): string {
  const { x, y } = heading;
  const sentences = series.map(one => {
    const { mean, low, high } = xBins(segmentsOf(one), seen, 1);
    const write = (value = NaN): string =>
      format(value * (one.factor ?? 1), y.unit);
    return Number.isNaN(mean[0])
      ? t('%1 has no value.', fullLabel(one))
      : t(
          '%1: mean %2, from %3 to %4.',
          fullLabel(one),
          write(mean[0]),
          write(low[0]),
          write(high[0])
        );
  });
  const said = toldShades(heading, seen)
    .slice(0, MOST_SAID)
    .map(({ from, label }) => `${x.label} ${format(from, x.unit)}, ${label}.`);
  const part = t(
    '%1 %2 to %3',
    x.label,
    format(seen.from, x.unit),
    format(seen.to, x.unit)
  );
  return (
    [y.label, part].filter(Boolean).join(', ') +
    `. ${[...sentences, ...said].join(' ')}`
  );
}

/**
 * Return the shaded parts that are told in texts.
 */
function toldShades({ shades }: IHeading, seen: IRange): readonly IShade[] {
  return shades.filter(
    ({ short, from, to }) =>
      short !== undefined && to >= seen.from && from <= seen.to
  );
}

function placesOf(
  series: readonly ISeries[],
  seen: IRange,
  most: number
): number[] | null {
  const places = new Set<number>();
  for (const one of series) {
    for (const { x } of segmentsOf(one)) {
      for (let row = lowerBound(x, seen.from); row < x.length; row++) {
        const value = x[row] as number;
        if (!isWithin(value, seen)) {
          break;
        }
        places.add(value);
        if (places.size > most) {
          return null;
        }
      }
    }
  }
  return [...places].sort((one, other) => one - other);
}

function withUnit({ label, unit }: IAxis): string {
  return unit === 'count' || unit === 'number' ? label : `${label} (${unit})`;
}
