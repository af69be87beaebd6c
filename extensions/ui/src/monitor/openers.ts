/**
 * What opens one of a kind in Python, in our package.
 */
const OPENERS: Readonly<Record<string, string>> = {
  run: 'Run',
  comparison: 'ComparisonRun',
  scaling: 'ScalingRun',
  tuning: 'TuningRun'
};

/**
 * Return the line that imports what opens one of a kind, and its name behind that; no view is loaded
 * for it. A kind that another package brings is opened as any study is.
 */
export function openerOf(kind: string): readonly [string, string] {
  const name = OPENERS[kind];
  return name === undefined
    ? ['from smtc_lab.study.study_run import StudyRun', 'StudyRun']
    : ['import smtc_lab as lab', `lab.${name}`];
}
