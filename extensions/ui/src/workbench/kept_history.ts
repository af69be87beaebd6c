import { jobToJson, parseJob, type IJob } from '@smtc-lab/protocol';
import type { IModel } from '../model.js';
import { History } from './history.js';

const MOST_KEPT = 20;

/**
 * Return the steps that a model keeps, as over a reload of its page; none where it keeps none,
 * or what it kept is no set-ups.
 */
export function historyOf(model: IModel): History<readonly IJob[]> {
  const history = new History<readonly IJob[]>();
  const kept = model.get('undo');
  if (typeof kept === 'object' && kept !== null) {
    const { past, future } = kept as Record<string, unknown>;
    try {
      history.restore(statesOf(past), statesOf(future));
    } catch {
      // another version wrote it: what is typed stays, without steps
    }
  }
  return history;
}

/**
 * Have a model keep the newest steps. The model of a kernel has no `undo`, and keeps none.
 */
export function keepHistory(
  model: IModel,
  history: History<readonly IJob[]>
): void {
  if (model.get('undo') !== undefined) {
    model.set('undo', {
      past: history.past.slice(-MOST_KEPT).map(toJson),
      future: history.future.slice(-MOST_KEPT).map(toJson)
    });
  }
}

function statesOf(kept: unknown): readonly (readonly IJob[])[] {
  return (Array.isArray(kept) ? kept : [])
    .slice(-MOST_KEPT)
    .map((state: unknown) =>
      (state as readonly unknown[]).map(job => parseJob(job))
    );
}

function toJson(jobs: readonly IJob[]): readonly unknown[] {
  return jobs.map(jobToJson);
}
