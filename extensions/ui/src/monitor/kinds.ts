import { comparison } from '../comparison/kind.js';
import type { IView } from '../model.js';
import { run } from '../run/kind.js';
import { scaling } from '../scaling/kind.js';
import { studyOf } from '../study/kind.js';
import { monitor } from './monitor.js';

const MONITORS: Readonly<Record<string, IView>> = {
  run: monitor(run),
  comparison: monitor(comparison),
  scaling: monitor(scaling)
};

/**
 * Return the view of a kind of thing that goes on; a kind that another package brings is shown as
 * any study is.
 */
export function monitorOf(kind: string): IView {
  return MONITORS[kind] ?? monitor(studyOf(kind));
}
