"""Short launches whose trainers write down what they learn, for a check of parity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError, StoreError
from smtc_lab.launchers.special_launch import as_parity_launch
from smtc_lab.store.parity_traces import read_parity_trace
from smtc_lab.store.said import and_then
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.watched_run import run_watched

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.launchers.launcher import Launcher, LaunchPlan
    from smtc_lab.metrics.parity_trace import ParityTrace
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.study.watched_run import LaunchWatch

PARITY_STEPS = 8
"""Steps of a parity launch."""

_TRACES = "parity-rank*.npz"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(kw_only=True)
class TracedLaunches:
    """Makes parity launches, and remembers why some failed."""

    launcher: Launcher
    """Where they run."""

    watch: LaunchWatch
    """Who is told how far they are."""

    steps: int
    """Steps of each."""

    def __post_init__(self) -> None:
        self.problems: list[str] = []
        """Why launches failed, a sentence each."""
        self._stamp = datetime.now(UTC)

    def trace(
        self, job: TrainingJob, name: str, *, other_threads: bool = False
    ) -> ParityTrace | str:
        """Return the trace of a launch's first trainer, or why there is none.

        Args:
            job: What is launched.
            name: What the launch is called.
            other_threads: Whether it has another number of threads than the job says.
        """
        found = self.traces(job, name, other_threads=other_threads, num_ranks=1)
        return found if isinstance(found, str) else found[0]

    def traces(
        self,
        job: TrainingJob,
        name: str,
        *,
        other_threads: bool = False,
        permutes: bool = False,
        num_ranks: int | None = None,
    ) -> tuple[ParityTrace, ...] | str:
        """Return the traces of a launch's trainers by rank, or why there are none.

        Args:
            job: What is launched.
            name: What the launch is called.
            other_threads: Whether it has another number of threads than the job says.
            permutes: Whether the samples of each batch are permuted.
            num_ranks: How many ranks' traces are read; None: all.
        """
        number = f"p{self.watch.begun + 1}"
        job_name = launch_name(job.entry_point, name, number, stamp=self._stamp)
        try:
            plan = self.launcher.plan(job.model_copy(update={"job_name": job_name}))
            if other_threads:
                plan = self.launcher.plan(_with_other_threads(plan))
        except SpecError as error:  # its environment has gone meanwhile, say
            self.watch.launches -= 1
            self.problems.append(f"The parity launch {name!r} could not be made. {error}")
            return "could not be made"
        traced = as_parity_launch(plan, steps=self.steps, permutes=permutes)
        run = run_watched(self.launcher, traced, self.watch, name=name)
        paths = _trace_files(run.folder, plan)
        try:
            if run.status == "Completed":
                return tuple(map(read_parity_trace, paths[:num_ranks]))
            reason = f"ended as {run.status}. {run.state.reason}"
        except StoreError:
            reason = "left no trace that can be read."
        finally:
            for instance in plan.instances:  # each trace holds the whole model
                for written in run.folder.compiler_folder(instance.host).glob(_TRACES):
                    written.unlink()
        self.problems.append(
            and_then(f"The parity launch {name!r} {reason}", run.where_to_look())
        )
        return reason.partition(".")[0]


def _with_other_threads(plan: LaunchPlan) -> TrainingJob:
    threads = "2" if plan.instances[0].num_cpus == 1 else "1"
    extra = dict.fromkeys(_THREAD_VARIABLES, threads)
    return plan.job.model_copy(update={"environment": {**plan.job.environment, **extra}})


def _trace_files(folder: RunFolder, plan: LaunchPlan) -> list[Path]:
    """Return where the trainers of a run write their parity traces, by rank."""
    hosts = {rank: instance.host for instance in plan.instances for rank in instance.ranks}
    return [
        folder.compiler_folder(hosts[rank]) / f"parity-rank{rank}.npz" for rank in sorted(hosts)
    ]
