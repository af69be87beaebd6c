import type { ICatalogPlans, IForecast } from './generated/wire.js';
import { readOnce } from './read.js';
import { readWire } from './wire.js';

/**
 * What is known before anybody asked.
 */
export const NO_FORECAST: IForecast = {
  version: 1,
  of: '',
  setUps: [],
  comparisonS: null,
  comparisonUsd: null,
  missing: null,
  calibrating: { state: 'idle', sentence: '', launch: 0, launches: 0 }
};

/**
 * Read the forecast of a form's set-ups; undefined: nobody asked yet. It is asked for by each of
 * them, at each move of a pointer, and has thousands of numbers.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export const parseForecast = readOnce(
  (value: unknown): IForecast =>
    value === undefined ? NO_FORECAST : readWire('Forecast', value)
);

const NO_PLANS: ICatalogPlans = { version: 1, of: '', plans: [], setUps: [] };

/**
 * Read all clusters that the set-ups of a form could have; undefined: nobody asked yet.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export const parseCatalogPlans = readOnce(
  (value: unknown): ICatalogPlans =>
    value === undefined ? NO_PLANS : readWire('CatalogPlans', value)
);

/**
 * Return whether a forecast is of these set-ups, and not of what was typed before.
 *
 * @param value - The set-ups as JSON values, as the model has them.
 */
export function isForecastOf(
  forecast: Pick<IForecast, 'of'>,
  value: unknown
): boolean {
  if (forecast.of === '') {
    return false;
  }
  const then: unknown = JSON.parse(forecast.of);
  return JSON.stringify(then) === JSON.stringify(value);
}
