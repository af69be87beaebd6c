import { exactly } from '../plan/geometry.js';
import { scaleOf, type IScale } from '../plan/scale.js';

const LEAST_RATIO = 30;
const ROOM = 0.08;
const FEWEST_TICKS = 4;

/**
 * Return the axis that shows some values: logarithmic where all are above 0 and far apart.
 */
export function linearOrLog(values: readonly number[]): IScale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0 || (least > 0 && most / least >= LEAST_RATIO)) {
    return scaleOf(values.map(exactly));
  }
  const width = most - least || Math.abs(most) || 1;
  const [from, to] = [least - ROOM * width, most + ROOM * width];
  return {
    ...{ from, to, ticks: ticks(from, to) },
    place: value => (value - from) / (to - from)
  };
}

function ticks(from: number, to: number): readonly number[] {
  const rough = (to - from) / FEWEST_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([5, 2].find(one => one * power <= rough) ?? 1);
  const found: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n += 1) {
    found.push(Number((n * step).toPrecision(12)));
  }
  return found;
}
