// @vitest-environment node
import { expect, it } from 'vitest';
import cases from '../../../tests/fixtures/arguments.json';
import {
  jobToJson,
  joinArguments,
  parseJob,
  splitArguments
} from '../src/index.js';

it.each(cases)(
  'splits $text as Python does',
  ({ text, arguments: words, open }) => {
    expect(splitArguments(text)).toEqual(words ?? open);
  }
);

it.each(cases.filter(({ arguments: words }) => words !== null))(
  'joins the words of $text into a line that splits into them',
  ({ arguments: words }) => {
    expect(splitArguments(joinArguments(words ?? []))).toEqual(words);
  }
);

it('quotes what a shell would read, and nothing else', () => {
  expect(joinArguments(['--lr=0.1', 'a b', "it's", '', '$x'])).toBe(
    `--lr=0.1 'a b' 'it'"'"'s' '' '$x'`
  );
});

it('keeps the arguments of a job, also a line that cannot be split yet', () => {
  const job = (given?: unknown) => ({
    entry_point: 'train.py',
    cluster: { instance_groups: [] },
    arguments: given
  });
  const back = (given: unknown) => jobToJson(parseJob(job(given))).arguments;

  expect(back(['--dummy', 'a b'])).toEqual(['--dummy', 'a b']);
  expect(back("--name 'two")).toBe("--name 'two");
  expect(() => parseJob(job(3))).toThrow(/arguments=3/);
});
