const LAB = 'import smtc_lab as lab';

/**
 * What opens one of a kind in Python: the line that imports it, and its name behind that.
 */
const OPENERS: Readonly<Record<string, readonly [string, string]>> = {
  run: [LAB, 'lab.Run'],
  comparison: [LAB, 'lab.ComparisonRun'],
  scaling: [LAB, 'lab.ScalingRun']
};

/**
 * Return the line that imports what opens one of a kind, and its name; no view is loaded for it.
 * A kind that another package brings is opened as any study is.
 */
export function openerOf(kind: string): readonly [string, string] {
  return (
    OPENERS[kind] ?? [
      'from smtc_lab.study.study_run import StudyRun',
      'StudyRun'
    ]
  );
}
