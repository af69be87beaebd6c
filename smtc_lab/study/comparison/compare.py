"""Runs the same job on several clusters, in interleaved launches, and compares them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.engines import THIS_MACHINE, runs_here
from smtc_lab.launchers.job_environment import environment_name
from smtc_lab.machine.cores import machine_facts, versions
from smtc_lab.machine.installed import loaded
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.measured_cluster import is_known_within
from smtc_lab.metrics.finding import caution
from smtc_lab.store.said import and_then
from smtc_lab.study.comparison.completed import failed_launch, steps_or_problem
from smtc_lab.study.comparison.fitting_steps import with_fitting_steps
from smtc_lab.study.comparison.plan import plan_comparison
from smtc_lab.study.keeper import StudyKeeper
from smtc_lab.study.new_files import new_files_line
from smtc_lab.study.supervision import keep_here, make_study
from smtc_lab.study.watched_run import LaunchWatch, Progress, run_watched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.comparison.parity_launches import ParityCheck
    from smtc_lab.study.comparison.plan import ComparisonPlan

__all__ = ["ComparisonOutcome", "compare"]

DEFAULT_ROUNDS = 3
"""Launches of each cluster. Five or more for figures that are published."""

_PREDICTED = "smtc_lab.planner.launching.predicted_set_ups:predicted_set_ups"
"""Who asks calibrations. The planner stands above studies, and is looked up by its name."""


@dataclass(frozen=True, kw_only=True)
class ComparisonOutcome(BundleDisplayed):
    """A comparison with the runs that it was made of."""

    comparison: Comparison
    """The numbers."""

    runs: tuple[RunRecords, ...]
    """The records of every launch, in the order in which they ran."""

    new_files: str = ""
    """Where the new files of the launches are kept, a sentence; empty: there are none."""


def compare(  # noqa: PLR0913  options by name, all with a default
    jobs: Sequence[TrainingJob],
    *,
    rounds: int = DEFAULT_ROUNDS,
    within: float | None = None,
    on: str | Launcher = THIS_MACHINE,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
    parity: ParityCheck | None = None,
) -> ComparisonOutcome:
    """Run several jobs in interleaved rounds and compare their clusters.

    The order turns round from round to round (A B, B A, A B, …), so that a drift of the
    machine's speed hits all alike. All clusters of an emulation get the same time dilation.
    Emulated launches without ``max_steps`` take as many steps as fit into about three minutes,
    which a launch of the baseline before the rounds finds out. A job that
    fails fails the comparison, unless its compiler settings or its environment differ from the
    baseline's: then the others are compared without it, and a warning says so.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        within: End as soon as every speed-up is known within this fraction of it, ``0.05`` for
            5 % either way, and after ``rounds`` at the latest. The interval then holds however
            often it was looked at, so it is wider than that of as many planned rounds.
        on: Name of the launcher, or a launcher.
        root: Folder of runs; None: the default one, or that of the given launcher. The
            comparison lies in ``comparisons`` beside it.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.
        parity: Called with the completed runs; None: parity is not checked.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; nothing was started.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    plan = plan_comparison(
        jobs, rounds=rounds, within=within, on=on, root=root, catalog=catalog
    )
    folder = make_study(plan.request(parity=parity is not None), keep_here)
    keeper = StudyKeeper(folder, progress=progress)
    with keeper.going_on() as watch:
        outcome = carry_out(plan, watch, parity=parity)
        keeper.conclude(outcome.comparison.to_json())
    return outcome


def carry_out(
    plan: ComparisonPlan, watch: LaunchWatch, *, parity: ParityCheck | None = None
) -> ComparisonOutcome:
    """Make the launches of a plan one after the other, and compare them.

    Args:
        plan: What to launch.
        watch: Who is told how far it is, and who may stop it.
        parity: Called with the completed runs; None: parity is not checked.

    Raises:
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    load = os.getloadavg()[0]
    watch.launches = len(plan.launches)
    plan = with_fitting_steps(plan, watch)
    for place, launch in enumerate(plan.launches):
        watch.rounds[str(launch.job.job_name)] = place // len(plan.jobs) + 1
    records, left_out = _run_all(plan, watch)
    found, remarks = (
        ({}, ()) if parity is None else parity(records, launcher=plan.launcher, watch=watch)
    )
    predicted = loaded(_PREDICTED)(records, plan.catalog, root=Path(plan.launcher.root))
    comparison = compare_runs(
        _baseline_first(plan, records),
        looks=plan.looks,
        catalog=plan.catalog,
        created=plan.created.isoformat(timespec="seconds"),
        machine={**machine_facts(), "versions": versions(), "load_at_start": round(load, 2)},
        parity=found,
        predicted=predicted,
    )
    told = [caution("launch", each) for each in (*left_out, *remarks, *_elsewhere(plan))]
    entry_point, findings = _shown(plan.jobs[0].entry_point), (*comparison.findings, *told)
    shown = comparison.model_copy(update={"entry_point": entry_point, "findings": findings})
    names = [str(run.job.job_name) for run in records]
    new_files = new_files_line(Path(plan.launcher.root), names)
    return ComparisonOutcome(comparison=shown, runs=tuple(records), new_files=new_files)


def _run_all(plan: ComparisonPlan, watch: LaunchWatch) -> tuple[list[RunRecords], list[str]]:
    """Return the records of all completed launches, and why others are missing."""
    baseline, only = plan.jobs[0], plan.jobs[0].cluster.label
    others = {job.cluster.label for job in plan.jobs} - {only}
    records: list[RunRecords] = []
    failed: dict[str, str] = {}
    for place, launch in enumerate(plan.launches):
        if place % len(plan.jobs) == 0 and _is_known(plan, records):
            watch.launches = watch.begun
            break
        label = launch.job.cluster.label
        if label in failed:
            watch.launches -= 1
            continue
        run = run_watched(plan.launcher, launch, watch, name=label)
        found = steps_or_problem(run, after_others=watch.begun > 1)
        if not isinstance(found, str):
            records.append(found)
            continue
        if is_like(launch.job, baseline):
            raise failed_launch(run, watch, name=label, problem=found)
        where = f"{label} was left out: Launch {watch.begun} of {watch.launches} ({label})"
        failed[label] = and_then(f"{where} {found}", run.where_to_look())
        if others <= failed.keys() and {run.label for run in records} <= {only}:
            break
    left_out = list(failed.values())
    if failed and {run.label for run in records} <= {only}:
        raise RunFailedError(f"Nothing is left to compare. {' '.join(left_out)}")
    return records, left_out


def _is_known(plan: ComparisonPlan, records: Sequence[RunRecords]) -> bool:
    """Return whether whole rounds tell as much as was asked for."""
    if plan.within is None or len({run.label for run in records}) == len(records):
        return False
    return is_known_within(_baseline_first(plan, records), plan.within, looks=plan.looks)


def _baseline_first(plan: ComparisonPlan, records: Sequence[RunRecords]) -> list[RunRecords]:
    labels = [job.cluster.label for job in plan.jobs]
    return sorted(records, key=lambda run: labels.index(run.label))


def is_like(job: TrainingJob, baseline: TrainingJob) -> bool:
    """Return whether a job that fails says something of the baseline too."""
    return job.compiler_config == baseline.compiler_config and environment_name(
        job
    ) == environment_name(baseline)


def _elsewhere(plan: ComparisonPlan) -> list[str]:
    """Return what a reader must know of a comparison whose machine is not where it ran."""
    if runs_here(plan.launcher.name):
        return []
    where = (
        f"The launches ran on {plan.launcher.name}; the machine that is named here launched "
        "them. What each instance had is in the facts of its run."
    )
    return [where]


def _shown(entry_point: str) -> str:
    """Return the script as a reader elsewhere knows it: from the working folder on."""
    path, here = Path(entry_point).resolve(), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name
