// @vitest-environment node
import { expect, it } from 'vitest';
import fixture from '../../../tests/fixtures/forecast.json';
import { isForecastOf, NO_FORECAST, parseForecast } from '../src/index.js';

it('is read with its units', () => {
  const { setUps, missing, calibrating } = parseForecast(fixture);
  const [known, unknown] = setUps;

  expect(known?.stepTimeS).toMatchObject({ value: 0.72, level: 0.8 });
  expect(known?.offers[0]?.stepTimeS).toEqual([0.72, null]);
  expect(known?.utilization.dataCpu).toBeNull();
  expect(known?.added?.instanceType).toBe('ml.c5.9xlarge');
  expect(unknown).toMatchObject({
    problem: 'It was not calibrated.',
    stepTimeS: null,
    added: null
  });
  expect(missing?.aboutS).toBe(160);
  expect(calibrating.launches).toBe(15);
});

it('is of the set-ups that it was made of, however their numbers are written', () => {
  const forecast = parseForecast(fixture);
  const typed = [{ entry_point: 'train.py', max_runtime_s: 86400 }, {}];

  expect(isForecastOf(forecast, typed)).toBe(true);
  expect(isForecastOf(forecast, typed.slice(0, 1))).toBe(false);
});

it('is of nothing before anybody asked', () => {
  expect(parseForecast(undefined)).toBe(NO_FORECAST);
  expect(isForecastOf(NO_FORECAST, [])).toBe(false);
});

it('is refused in another version', () => {
  expect(() => parseForecast({ ...fixture, version: 2 })).toThrow(
    /version=2.*reads 1/
  );
});
