import { format } from '../charts/units.js';
import { mark, t } from '../i18n.js';
import { duration, stateWord } from '../monitor/words.js';
import type { Cell, IColumn } from './page.js';

const LONGEST = 80;
const TITLES: Readonly<Record<string, string>> = {
  name: /* @__PURE__ */ mark('Run'),
  title: /* @__PURE__ */ mark('Title'),
  kind: /* @__PURE__ */ mark('Kind'),
  state: /* @__PURE__ */ mark('State'),
  reason: /* @__PURE__ */ mark('Reason'),
  script: /* @__PURE__ */ mark('Script'),
  cluster: /* @__PURE__ */ mark('Cluster'),
  engine: /* @__PURE__ */ mark('Engine'),
  study: /* @__PURE__ */ mark('Study'),
  launch: /* @__PURE__ */ mark('Launch'),
  made_by: /* @__PURE__ */ mark('Made by'),
  experiment: /* @__PURE__ */ mark('Experiment'),
  tags: /* @__PURE__ */ mark('Tags'),
  note: /* @__PURE__ */ mark('Note'),
  started: /* @__PURE__ */ mark('Started'),
  took_s: /* @__PURE__ */ mark('Took'),
  steps: /* @__PURE__ */ mark('Steps'),
  step_time_s: /* @__PURE__ */ mark('Time per step'),
  cost_usd: /* @__PURE__ */ mark('Cost'),
  usd_per_hour: /* @__PURE__ */ mark('Price per hour'),
  evidence: /* @__PURE__ */ mark('Evidence'),
  compiler: /* @__PURE__ */ mark('Compiler'),
  seed: /* @__PURE__ */ mark('Seed')
};

/**
 * Return what stands above a column.
 */
export function titleOf({ name, title }: IColumn): string {
  const own = TITLES[name];
  return own === undefined ? title : t(own);
}

/**
 * Return a value as the table shows it.
 */
export function cellWords(value: Cell, { name, kind }: IColumn): string {
  if (value === null) {
    return '—';
  }
  if (typeof value === 'boolean') {
    return value ? t('yes') : t('no');
  }
  if (typeof value === 'string') {
    return cut(name === 'state' ? t(stateWord(value)) : value);
  }
  switch (kind) {
    case 'time':
      return moment(value);
    case 'seconds':
      return value < 60 ? format(value, 's') : duration(value);
    case 'usd':
      return format(value, 'USD');
    default:
      return Number.isInteger(value)
        ? format(value, 'count')
        : format(value, 'number');
  }
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function moment(seconds: number): string {
  const at = new Date(1000 * seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())];
  return `${date.join('-')} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
