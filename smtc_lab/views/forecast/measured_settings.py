"""Finds what compiler settings brought when a script was last compared. Heavy."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError, SmtcLabError
from smtc_lab.metrics.compared.ablation import ENVIRONMENT, FactorEffect, settings
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import COMPARISON, StudyFolder, studies_root
from smtc_lab.study.stored import find_studies
from smtc_lab.views.forecast.ladder import (
    CompilerLadders,
    LadderRung,
    MeasuredIn,
    MeasuredPay,
    SetUpLadder,
)
from smtc_lab.views.forecast.typed import read_set_up
from smtc_lab.views.text.format import TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob

_MOST_STUDIES = 100
_MOST_RUNGS = 24


@dataclass(frozen=True, kw_only=True)
class _CompilerComparison:
    """One comparison that has ended, as far as compilers are concerned."""

    name: str
    """Name of the comparison."""

    jobs: dict[str, TrainingJob]
    """What was launched, by its label."""

    comparison: Comparison
    """What came out."""

    def instances_of(self, label: str) -> str:
        """Return what a set-up ran on, in words."""
        groups = self.jobs[label].cluster.instance_groups
        return " + ".join(
            f"{each.instance_count} {TIMES} {each.instance_type}" for each in groups
        )


def compiler_ladders(
    value: Sequence[object], *, folder: Path | None = None, root: Path | None = None
) -> CompilerLadders:
    """Return what was measured of compiler settings for the scripts of a form.

    Args:
        value: Each a ``TrainingJob`` as JSON, legal or not; the baseline first.
        folder: Folder from which relative paths count; None: that of this process.
        root: Folder of runs, beside which comparisons lie; None: the default one.
    """
    newest = find_studies(studies_root(root))[: -_MOST_STUDIES - 1 : -1]
    found: list[_CompilerComparison] = []
    for changed_s, path in newest:
        measured = _read(path, changed_s)
        if measured is not None:
            found.append(measured)
    return CompilerLadders(
        of=json.dumps(value), set_ups=tuple(_ladder(each, folder, found) for each in value)
    )


def _ladder(
    value: object, folder: Path | None, found: Sequence[_CompilerComparison]
) -> SetUpLadder:
    typed = read_set_up(value, folder)
    if typed.asked is None:
        return SetUpLadder(problem=typed.problem)
    job = typed.asked.job
    rungs: list[LadderRung] = []
    pays: MeasuredPay | None = None
    own = _hash_of(job.entry_point, job)
    for measured in found:
        labels = {
            label
            for label, other in measured.jobs.items()
            if own is not None and _hash_of(_path_of(other, job), other) == own
        }
        known = {rung.setting for rung in rungs}
        rungs += [rung for rung in _rungs(measured, labels, job) if rung.setting not in known]
        pays = pays or _pays(measured, labels, job)
    return SetUpLadder(rungs=tuple(rungs[:_MOST_RUNGS]), pays=pays)


def _path_of(other: TrainingJob, job: TrainingJob) -> str | None:
    """Return where another job's script lies; None: in a folder that is not known.

    One that was typed in a terminal may be the end of the path of this job's.
    """
    path, asked = Path(other.entry_point), Path(job.entry_point)
    if path.is_absolute():
        return other.entry_point
    return job.entry_point if asked.parts[-len(path.parts) :] == path.parts else None


def _hash_of(path: str | None, job: TrainingJob) -> str | None:
    """Return what a workload is known by; None: its script is gone, or not known."""
    if path is None:
        return None
    try:
        return workload_hash(path, job.hyperparameters, job.arguments)
    except PlannerError:
        return None


def _rungs(
    measured: _CompilerComparison, labels: set[str], job: TrainingJob
) -> Iterator[LadderRung]:
    clusters = {each.name: each for each in measured.comparison.clusters}
    for effect in measured.comparison.factors:
        pair = {effect.first, effect.second}
        first, second = clusters.get(effect.first), clusters.get(effect.second)
        if effect.factor == ENVIRONMENT or not pair <= labels or not (first and second):
            continue
        if first.compiler is None or second.compiler is None:
            continue
        yield LadderRung(
            setting=effect.factor,
            before=effect.before,
            after=effect.after,
            saved_fraction=_saved(effect),
            is_seen=effect.speedup.side_of(1) != 0,
            added_s=_less(second.compiler.overhead_s, first.compiler.overhead_s),
            measured=_measured_in(measured, effect.second, job),
        )


def _pays(
    measured: _CompilerComparison, labels: set[str], job: TrainingJob
) -> MeasuredPay | None:
    """Return when the settings of a job have paid, if they were compared with others."""
    if job.compiler_config is None or not job.compiler_config.enabled:
        return None
    wanted = settings(job.compiler_config)
    baseline, *others = measured.comparison.clusters
    for each in others:
        compiler = each.compiler
        if each.name not in labels or baseline.name not in labels or compiler is None:
            continue
        if compiler.break_even is None or settings(compiler.config) != wanted:
            continue
        steps = compiler.break_even.steps
        return MeasuredPay(
            baseline=baseline.name,
            steps=steps,
            after_s=None if steps is None else _seconds_of(steps, baseline),
            is_slower=compiler.break_even.is_slower,
            measured=_measured_in(measured, each.name, job),
        )
    return None


def _saved(effect: FactorEffect) -> Interval:
    ratio = effect.speedup
    return ratio.at(1 - 1 / ratio.mean, 1 - 1 / ratio.low, 1 - 1 / ratio.high)


def _less(one: Interval, other: Interval) -> Interval:
    """Return a difference between the ends that lie furthest apart: rather too wide."""
    return one.at(one.mean - other.mean, one.low - other.high, one.high - other.low)


def _seconds_of(steps: Interval, baseline: ClusterResult) -> Interval | None:
    """Return how long the baseline takes for so many steps, its own first ones included."""
    if baseline.compiler is None:
        return None
    overhead_s, step_s = baseline.compiler.overhead_s, baseline.step_time_s
    return steps.at(
        max(0.0, overhead_s.mean) + steps.mean * step_s.mean,
        max(0.0, overhead_s.low) + steps.low * step_s.low,
        max(0.0, overhead_s.high) + steps.high * step_s.high,
    )


def _measured_in(measured: _CompilerComparison, label: str, job: TrainingJob) -> MeasuredIn:
    created = measured.comparison.created
    changed = datetime.fromtimestamp(Path(job.entry_point).stat().st_mtime, UTC)
    made = datetime.fromisoformat(created)
    return MeasuredIn(
        name=measured.name,
        created=created,
        instances=measured.instances_of(label),
        is_script_changed=changed > (made if made.tzinfo else made.replace(tzinfo=UTC)),
    )


def _read(path: Path, changed_s: float) -> _CompilerComparison | None:
    """Return a comparison; None: it goes on, failed, is damaged, or tells of no compiler."""
    try:
        result_s = StudyFolder(path).result_file(COMPARISON).lstat().st_mtime
    except OSError:
        return None
    return _read_once(path, changed_s, result_s)


@functools.lru_cache(maxsize=2 * _MOST_STUDIES)
def _read_once(path: Path, changed_s: float, result_s: float) -> _CompilerComparison | None:
    """Read a comparison. The times are those of its files, by which another one is known."""
    del changed_s, result_s
    try:
        run = ComparisonRun(StudyFolder(path))
        comparison = run.comparison
        if comparison is None:
            return None
        datetime.fromisoformat(comparison.created)
        jobs = {job.cluster.label: job for job in run.request.jobs}
    except (SmtcLabError, OSError, ValueError, ArithmeticError):
        return None
    if all(each.compiler is None for each in comparison.clusters):
        return None
    return _CompilerComparison(name=run.name, jobs=jobs, comparison=comparison)
