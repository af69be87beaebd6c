"""Runs the same job on several clusters, in interleaved launches, and compares them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.display import Displayed
from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launch.local import LocalLauncher
from smtc_lab.launch.local_plan import fitting_scale
from smtc_lab.launch.run import Run
from smtc_lab.machine.cores import available_cores, machine_facts, versions
from smtc_lab.metrics.compare import compare_runs
from smtc_lab.metrics.records import RunRecords, StepRecord
from smtc_lab.store.reader import read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.launch.launcher import LaunchPlan
    from smtc_lab.metrics.comparison import Comparison
    from smtc_lab.spec.job import TrainingJob

DEFAULT_ROUNDS = 3
"""Launches of each cluster. Five or more for figures that are published."""

_LOOK_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a comparison stands."""

    launch: int
    """Number of the launch that runs now, from 1."""

    launches: int
    """Launches in all."""

    cluster: str
    """Name of the cluster that runs now."""

    steps: int
    """Steps that have ended in this launch, all ranks."""

    max_steps: int | None
    """Steps that this launch will take on each rank; None: not known."""

    elapsed_s: float
    """Seconds since the comparison began."""

    mean_step_time_s: float | None
    """Mean step time of this launch so far, warm-up included; None: no step yet."""


@dataclass(frozen=True, kw_only=True)
class ComparisonOutcome(Displayed):
    """A comparison with the runs that it was made of."""

    comparison: Comparison
    """The numbers."""

    runs: tuple[RunRecords, ...]
    """The records of every launch, in the order in which they ran."""


def compare(
    jobs: Sequence[TrainingJob],
    *,
    rounds: int = DEFAULT_ROUNDS,
    root: Path | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ComparisonOutcome:
    """Run several jobs in interleaved rounds on this machine and compare their clusters.

    The order turns round from round to round (A B, B A, A B, …), so that a drift of the
    machine's speed hits all alike. All clusters of an emulation get the same scale.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        root: Folder of runs; None: the default one.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; nothing was started.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    catalog = Catalog.load() if catalog is None else catalog
    jobs = _comparable(jobs, rounds, catalog)
    launcher = LocalLauncher(root=root, catalog=catalog)
    stamp = datetime.now(UTC)
    plans = _plans(jobs, rounds, launcher, stamp)
    began_s = time.monotonic()
    records = []
    for number, plan in enumerate(plans, start=1):
        begin = Progress(
            launch=number,
            launches=len(plans),
            cluster=plan.job.cluster.label,
            steps=0,
            max_steps=plan.job.max_steps,
            elapsed_s=time.monotonic() - began_s,
            mean_step_time_s=None,
        )
        records.append(_run_one(launcher, plan, begin, progress, began_s))
    comparison = compare_runs(
        sorted(records, key=lambda run: [job.cluster.label for job in jobs].index(run.label)),
        catalog=catalog,
        created=stamp.isoformat(timespec="seconds"),
        machine={**machine_facts(), "versions": versions()},
    )
    shown = comparison.model_copy(update={"entry_point": _shown(jobs[0].entry_point)})
    return ComparisonOutcome(comparison=shown, runs=tuple(records))


def _shown(entry_point: str) -> str:
    """Return the script as a reader elsewhere knows it: from the working folder on."""
    path, here = Path(entry_point).resolve(), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


def _comparable(
    jobs: Sequence[TrainingJob], rounds: int, catalog: Catalog
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
        problems += [
            f"{job.cluster.label}: {text}" for text in LocalLauncher(catalog=catalog).check(job)
        ]
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    emulated = [job for job in jobs if job.emulation is not None]
    if not emulated:
        return list(jobs)
    scale = fitting_scale(emulated, catalog, cores=available_cores())
    return [job if job.emulation is None else _scaled(job, scale) for job in jobs]


def _scaled(job: TrainingJob, scale: float) -> TrainingJob:
    emulation = job.emulation
    if emulation is None or emulation.cores_per_vcpu is not None:
        return job
    with_scale = emulation.model_copy(update={"cores_per_vcpu": scale})
    return job.model_copy(update={"emulation": with_scale})


def _plans(
    jobs: Sequence[TrainingJob], rounds: int, launcher: LocalLauncher, stamp: datetime
) -> list[LaunchPlan]:
    plans = []
    for round_number in range(rounds):
        turn = jobs if round_number % 2 == 0 else list(reversed(jobs))
        for job in turn:
            label = (
                re.sub(r"[^A-Za-z0-9]+", "-", job.cluster.label).strip("-")[:24] or "cluster"
            )
            stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(job.entry_point).stem).strip("-")[:16]
            moment = f"{stamp:%m%d-%H%M%S}-{stamp.microsecond // 1000:03d}"
            name = "-".join(
                part for part in (stem or "job", label, f"r{round_number + 1}", moment) if part
            )
            plans.append(launcher.plan(job.model_copy(update={"job_name": name})))
    return plans


def _run_one(
    launcher: LocalLauncher,
    plan: LaunchPlan,
    begin: Progress,
    progress: Callable[[Progress], None] | None,
    began_s: float,
) -> RunRecords:
    """Run one launch to its end, telling how far it is."""
    run = Run(launcher, launcher.start(plan))
    handle_state = run.state
    watched = _StepCounter(run)
    try:
        while not handle_state.is_terminal:
            handle_state = launcher.wait(run.handle, _LOOK_S)
            if progress is not None:
                watched.look()
                progress(watched.progress(begin, time.monotonic() - began_s))
    except BaseException:
        run.stop()
        raise
    if handle_state.state != "Completed":
        raise RunFailedError(
            f"Launch {begin.launch} of {begin.launches} ({begin.cluster}) ended as "
            f"{handle_state.state}. {handle_state.reason} All logs: {run.folder.logs}"
        )
    return run.records()


class _StepCounter:
    """Follows the step records of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rows: dict[Path, int] = {}
        self._steps = 0
        self._total_s = 0.0

    def look(self) -> None:
        for path in self._run.folder.records.glob("*-rank*.sqlite"):
            found, self._rows[path] = read_records(
                path, StepRecord, after=self._rows.get(path, 0)
            )
            self._steps += len(found)
            self._total_s += sum(record.step_time_s for record in found)

    def progress(self, begin: Progress, elapsed_s: float) -> Progress:
        return Progress(
            launch=begin.launch,
            launches=begin.launches,
            cluster=begin.cluster,
            steps=self._steps,
            max_steps=begin.max_steps,
            elapsed_s=elapsed_s,
            mean_step_time_s=self._total_s / self._steps if self._steps else None,
        )
