"""Runs the same job on several clusters, in interleaved launches, and compares them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.engines import THIS_MACHINE, runs_here
from smtc_lab.launchers.job_environment import environment_name
from smtc_lab.launchers.run import launcher_named
from smtc_lab.machine.cores import machine_facts, versions
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.finding import caution
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.watched_run import LaunchWatch, Progress, run_watched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.launchers.launcher import Launcher, LaunchPlan
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob

__all__ = ["ComparisonOutcome", "ParityCheck", "compare"]

DEFAULT_ROUNDS = 3
"""Launches of each cluster. Five or more for figures that are published."""


@dataclass(frozen=True, kw_only=True)
class ComparisonOutcome(BundleDisplayed):
    """A comparison with the runs that it was made of."""

    comparison: Comparison
    """The numbers."""

    runs: tuple[RunRecords, ...]
    """The records of every launch, in the order in which they ran."""


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What a comparison launches."""

    jobs: tuple[TrainingJob, ...]
    """One for each cluster, the baseline first; all emulations of one scale."""

    launches: tuple[LaunchPlan, ...]
    """Every launch, in the order in which they run."""

    created: datetime
    """When it was made; the launches are named by it."""

    launcher: Launcher
    """Where they run."""

    catalog: Catalog
    """Types and prices."""


class ParityCheck(Protocol):
    """Finds out, in launches of its own, whether the compared jobs train the same model."""

    def __call__(
        self, runs: Sequence[RunRecords], *, launcher: Launcher, watch: LaunchWatch
    ) -> tuple[Mapping[str, ParityResult], Sequence[str]]:
        """Return what was found for each label, and what a reader must know of it."""
        ...


def compare(  # noqa: PLR0913  options by name, all with a default
    jobs: Sequence[TrainingJob],
    *,
    rounds: int = DEFAULT_ROUNDS,
    on: str | Launcher = THIS_MACHINE,
    root: Path | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
    parity: ParityCheck | None = None,
) -> ComparisonOutcome:
    """Run several jobs in interleaved rounds and compare their clusters.

    The order turns round from round to round (A B, B A, A B, …), so that a drift of the
    machine's speed hits all alike. All clusters of an emulation get the same scale. A job that
    fails fails the comparison, unless its compiler settings or its environment differ from the
    baseline's: then the others are compared without it, and a warning says so.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        on: Name of the launcher, or a launcher.
        root: Folder of runs; None: the default one, or that of the given launcher.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.
        parity: Called with the completed runs; None: parity is not checked.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; nothing was started.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    plan = plan_comparison(jobs, rounds=rounds, on=on, root=root, catalog=catalog)
    watch = LaunchWatch(launches=len(plan.launches), progress=progress)
    return carry_out(plan, watch, parity=parity)


def plan_comparison(  # noqa: PLR0913  as above
    jobs: Sequence[TrainingJob],
    *,
    rounds: int,
    on: str | Launcher = THIS_MACHINE,
    root: Path | None = None,
    catalog: Catalog | None = None,
    created: datetime | None = None,
) -> ComparisonPlan:
    """Return what a comparison would launch, without starting anything.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        on: Name of the launcher, or a launcher.
        root: Folder of runs; None: the default one, or that of the given launcher.
        catalog: Types and prices; None: the catalog that comes with the package.
        created: Moment that the launches are named by; None: now.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; all reasons at once.
    """
    catalog = Catalog.load() if catalog is None else catalog
    launcher = launcher_named(on, root=root, catalog=catalog) if isinstance(on, str) else on
    jobs = _comparable(jobs, rounds, launcher)
    created = datetime.now(UTC) if created is None else created
    return ComparisonPlan(
        jobs=tuple(jobs),
        launches=tuple(_launches(jobs, rounds, launcher, created)),
        created=created,
        launcher=launcher,
        catalog=catalog,
    )


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
    records, left_out = _run_all(plan, watch)
    labels = [job.cluster.label for job in plan.jobs]
    found, remarks = (
        ({}, ()) if parity is None else parity(records, launcher=plan.launcher, watch=watch)
    )
    comparison = compare_runs(
        sorted(records, key=lambda run: labels.index(run.label)),
        catalog=plan.catalog,
        created=plan.created.isoformat(timespec="seconds"),
        machine={**machine_facts(), "versions": versions()},
        parity=found,
    )
    shown = comparison.model_copy(
        update={
            "entry_point": _shown(plan.jobs[0].entry_point),
            "findings": (
                *comparison.findings,
                *(caution("launch", each) for each in (*left_out, *remarks, *_elsewhere(plan))),
            ),
        }
    )
    return ComparisonOutcome(comparison=shown, runs=tuple(records))


def _run_all(plan: ComparisonPlan, watch: LaunchWatch) -> tuple[list[RunRecords], list[str]]:
    """Return the records of all completed launches, and why others are missing."""
    baseline, only = plan.jobs[0], plan.jobs[0].cluster.label
    others = {job.cluster.label for job in plan.jobs} - {only}
    records: list[RunRecords] = []
    failed: dict[str, str] = {}
    for launch in plan.launches:
        label = launch.job.cluster.label
        if label in failed:
            watch.launches -= 1
            continue
        run = run_watched(plan.launcher, launch, watch, name=label)
        state = run.state
        if state.state == "Completed":
            records.append(run.records())
            continue
        what = f"({label}) ended as {state.state}. {state.reason}"
        where = f"Launch {watch.begun} of {watch.launches}"
        if is_like(launch.job, baseline):
            raise RunFailedError(f"{where} {what} All logs: {run.folder.logs}")
        failed[label] = (
            f"{label} was left out: {where} {what} See 'smtc-lab runs show {run.job_name} "
            "--log'."
        )
        if others <= failed.keys() and {run.label for run in records} <= {only}:
            break
    left_out = list(failed.values())
    if failed and {run.label for run in records} <= {only}:
        raise RunFailedError(f"Nothing is left to compare. {' '.join(left_out)}")
    return records, left_out


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


def _comparable(
    jobs: Sequence[TrainingJob], rounds: int, launcher: Launcher
) -> list[TrainingJob]:
    """Return the jobs with one common scale, or say why they cannot be compared."""
    labels = [job.cluster.label for job in jobs]
    problems = []
    if len(jobs) < 1:
        problems.append("There is no cluster to compare. Give at least one.")
    if rounds < 1:
        problems.append(f"rounds={rounds} would launch nothing. Give at least 1.")
    if repeated := sorted({label for label in labels if labels.count(label) > 1}):
        problems.append(
            f"Two clusters are called {repeated[0]!r}, so that a table could not tell them "
            "apart. Give each a name: NAME@GROUP=TYPE:COUNT."
        )
    for job in jobs:
        problems += [f"{job.cluster.label}: {text}" for text in launcher.check(job)]
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    emulated = [job for job in jobs if job.emulation is not None]
    scale = launcher.common_scale(emulated) if emulated else None
    return [_scaled(job, scale) for job in jobs]


def _scaled(job: TrainingJob, scale: float | None) -> TrainingJob:
    emulation = job.emulation
    if scale is None or emulation is None or emulation.cores_per_vcpu is not None:
        return job
    with_scale = emulation.model_copy(update={"cores_per_vcpu": scale})
    return job.model_copy(update={"emulation": with_scale})


def _launches(
    jobs: Sequence[TrainingJob], rounds: int, launcher: Launcher, stamp: datetime
) -> list[LaunchPlan]:
    plans = []
    for round_number in range(rounds):
        turn = jobs if round_number % 2 == 0 else list(reversed(jobs))
        for job in turn:
            label = job.cluster.label
            name = launch_name(job.entry_point, label, f"r{round_number + 1}", stamp=stamp)
            plans.append(launcher.plan(job.model_copy(update={"job_name": name})))
    return plans
