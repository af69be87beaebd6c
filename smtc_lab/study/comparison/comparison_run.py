"""A comparison that goes on by itself: a study whose question is which set-up is faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.run import lives_on
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.study.comparison.compare import (
    DEFAULT_ROUNDS,
    ComparisonOutcome,
    carry_out,
)
from smtc_lab.study.comparison.parity_launches import ParityLaunches
from smtc_lab.study.comparison.plan import plan_comparison
from smtc_lab.study.folder import COMPARISON
from smtc_lab.study.study_run import StudyRun, start_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.watched_run import LaunchWatch, Progress


class ComparisonRun(StudyRun):
    """A comparison that goes on by itself, or has ended."""

    @property
    def comparison(self) -> Comparison | None:
        """The result; None: there is none, or not yet.

        Raises:
            StoreError: Its file is damaged.
        """
        written = self.result_json if self.request.kind == COMPARISON else None
        return None if written is None else Comparison.from_json(written)

    def wait(
        self,
        timeout_s: float | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> ComparisonOutcome:
        """Wait for the end and return the result. An interrupt (Ctrl-C) stops everything.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
            progress: Called about twice a second meanwhile.

        Raises:
            RunFailedError: A launch failed, or it was stopped; says why.
            LauncherError: It still runs after ``timeout_s``.
        """
        self.await_end(timeout_s, progress=progress)
        comparison = self.comparison
        if comparison is None:
            raise RunFailedError(f"The result of {self.name!r} is gone. Start it again.")
        records = [
            self.run_named(run.job_name).records()
            for run in self.state.runs
            if run.round is not None
        ]
        completed = tuple(run for run in records if run.state == "Completed")
        return ComparisonOutcome(
            comparison=comparison, runs=completed, new_files=self.new_files
        )


def carry_out_request(request: StudyRequest, watch: LaunchWatch) -> str:
    """Carry out a comparison that was asked for, as its process does; the result as JSON.

    Raises:
        SpecError: A job cannot run here any more.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    plan = plan_comparison(
        request.jobs,
        rounds=request.rounds,
        within=request.options.get("within"),
        root=request.root,
        catalog=request.catalog,
        created=request.created,
    )
    parity = ParityLaunches(jobs=plan.jobs) if request.options.get("parity") else None
    return carry_out(plan, watch, parity=parity).comparison.to_json()


def launch_comparison(  # noqa: PLR0913  options by name, all with a default
    jobs: Sequence[TrainingJob],
    *,
    rounds: int = DEFAULT_ROUNDS,
    within: float | None = None,
    root: StrPath | None = None,
    parity: bool = False,
    detach: bool | None = None,
    catalog: Catalog | None = None,
) -> ComparisonRun:
    """Start a comparison and return at once; a process of its own makes the launches.

    What is launched, and what is compared, is the same as with ``compare``.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        within: End as soon as every speed-up is known within this fraction of it.
        root: Folder of runs; None: the default one. The comparison lies beside it.
        parity: Check, in short launches of their own, that all train the same model.
        detach: Let it go on when this process ends; None: in a notebook, whose kernel may be
            restarted at any time, and not in a script.
        catalog: Types and prices; None: the catalog that comes with the package.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; nothing was started.
        LauncherError: It could not be started; nothing of it is left.
    """
    if parity and not any(job.compiler_config or job.python_environment for job in jobs):
        raise SpecError(
            "parity=True compares what compilers compute, but no job has compiler settings. "
            "Give a job a compiler_config, or leave parity out."
        )
    plan = plan_comparison(jobs, rounds=rounds, within=within, root=root, catalog=catalog)
    return ComparisonRun(start_study(plan.request(parity=parity), detach=lives_on(detach)))
