import { describe, expect, it } from 'vitest';
import catalogJson from '../../../tests/fixtures/catalog.json';
import cases from '../../../tests/fixtures/clusters.json';
import {
  clusterProblems,
  clusterToJson,
  parseCatalog,
  parseCluster,
  roles,
  usdPerHour
} from '../src/index.js';

const catalog = parseCatalog(catalogJson);

describe.each(cases)('$title', ({ value, ...wanted }) => {
  const cluster = parseCluster(value);

  it('comes back as it was', () => {
    expect(clusterToJson(cluster)).toEqual(value);
  });

  it('has the problems that Python finds', () => {
    const texts = clusterProblems(cluster, catalog).map(({ text }) => text);

    expect(texts).toEqual(wanted.problems);
  });

  it.runIf(wanted.problems.length === 0)('has the roles and the price', () => {
    expect(roles(cluster, catalog)).toEqual(wanted.roles);
    expect(usdPerHour(cluster, catalog)).toBe(wanted.usd_per_hour);
  });
});

it('finds no problem in a type that it does not know, for Python knows more', () => {
  const cluster = parseCluster({
    instance_groups: [
      { instance_group_name: 'a', instance_type: 'ml.new.large' }
    ]
  });

  expect(clusterProblems(cluster, catalog)).toEqual([]);
  expect(usdPerHour(cluster, catalog)).toBeNull();
});

it('refuses what is no cluster, and shows it', () => {
  expect(() => parseCluster({ instance_groups: 7 })).toThrow(
    /instance_groups=7.*a list/
  );
});

it('refuses a catalog that is none', () => {
  expect(() => parseCatalog({})).toThrow(/catalog=\{\}, but needs a list/);
  expect(() => parseCatalog([{ name: 'x', vcpus: 'many' }])).toThrow(
    /vcpus="many".*finite number/
  );
});
