import {
  listField,
  numberField,
  objectOf,
  parseCurve,
  textField,
  type IFrame,
  type JsonObject
} from '@smtc-lab/protocol';

const COLUMNS = ['step', 'time_s', 'step_time_s', 'data_wait_s', 'device'];

/**
 * Read the steps of a comparison that was saved before it was saved with tables: the step
 * times of each launch alone, in bins.
 */
export function tablesOfFirstVersion(saved: JsonObject): IFrame[] {
  const info = objectOf(saved['info'], 'The description of a saved result');
  const names = listField(info, 'launched', launch =>
    textField(objectOf(launch, 'A launch'), 'job_name')
  );
  return listField(saved, 'launches', value => {
    const launch = objectOf(value, 'A launch');
    const place = names.indexOf(textField(launch, 'job_name'));
    return parseCurve(`${place}/steps`, curveOf(launch));
  }).slice();
}

function curveOf(launch: JsonObject): JsonObject {
  const times = objectOf(launch['step_time_s'], 'The step times of a launch');
  const width = numberField(launch, 'bin_steps');
  const bins = (field: string): unknown[] => {
    const values = listField(times, field, value => value);
    const unknown = values.map(() => null);
    return COLUMNS.map(column => {
      if (column === 'step') {
        return values.map((_, bin) => bin * width);
      }
      return column === 'step_time_s' ? values : unknown;
    });
  };
  return {
    columns: COLUMNS,
    num_rows: numberField(launch, 'steps'),
    width,
    low: bins('low'),
    high: bins('high'),
    mean: bins('mean')
  };
}

/**
 * Read a scaling study that was saved before studies had sections.
 */
export function sectionsOf({ scaling }: JsonObject): JsonObject {
  return typeof scaling === 'object' && scaling !== null
    ? { sections: [{ name: 'scaling', values: scaling }] }
    : {};
}
