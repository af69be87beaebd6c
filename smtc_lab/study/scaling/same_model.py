"""Short launches that find out whether several trainers train one process's model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_types import own_types
from smtc_lab.errors import SpecError
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import launcher_named
from smtc_lab.metrics.parity import judge_ranks, unjudged
from smtc_lab.study.comparison.traced_launches import PARITY_STEPS, TracedLaunches
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.keeper import StudyKeeper
from smtc_lab.study.scaling.set_ups import scaled_jobs
from smtc_lab.study.supervision import keep_here, make_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import StrPath

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.parity_trace import ParityTrace
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import LaunchWatch, Progress

__all__ = ["SameModelLaunches", "check_parity"]

PARITY = "parity"
"""Name of the kind of study."""


def check_parity(  # noqa: PLR0913  options by name, all with a default
    job: TrainingJob,
    *,
    batch: str = "batch_size",
    steps: int = PARITY_STEPS,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ParityResult:
    """Return whether the trainers of a job train the model that one process would train.

    Three short launches on this machine, without dropout and emulation: one process with the
    batches of all trainers together; its twin, with the samples of each batch permuted; and
    the trainers. They are right where they end no further away than 3 times the twin. It is a
    study, so lists of runs show how far it is, with its launches below it.

    ::

        job = lab.TrainingJob(entry_point="train.py", distribution={"data": 2, "shard": 2}, …)
        print(lab.check_parity(job).verdict)

    Args:
        job: A job of several trainers.
        batch: Hyperparameter of the script that holds the batch of a trainer.
        steps: Steps of each launch, at least 1.
        root: Folder of runs; None: the default one.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.

    Raises:
        SpecError: The job has one trainer, no batch size, or cannot run here; nothing was
            started.
        RunFailedError: It was stopped.
    """
    catalog = Catalog.load() if catalog is None else catalog
    if steps < 1:
        raise SpecError(f"steps={steps} would compare nothing. Give at least 1.")
    launcher = launcher_named(THIS_MACHINE, root=root, catalog=catalog)
    check = SameModelLaunches((job,), batch=batch, catalog=catalog, steps=steps)
    check.refuse(launcher)
    request = StudyRequest(
        kind=PARITY,
        jobs=(job,),
        rounds=0,
        root=launcher.root,
        created=datetime.now(UTC),
        options={"instance_types": own_types(catalog, [job.cluster])},
    )
    keeper = StudyKeeper(make_study(request, keep_here), kind=PARITY, progress=progress)
    with keeper.going_on() as watch:
        found, problems = check(launcher=launcher, watch=watch)
        result = found[job.cluster.label]
        if result.equal is None and problems:
            told = f"{result.verdict}. {' '.join(problems)}"
            result = result.model_copy(update={"verdict": told})
        keeper.conclude(result.model_dump_json(indent=2))
    return result


@dataclass(frozen=True)
class SameModelLaunches:
    """Compares what each job of several trainers learns with one process and its twin.

    Jobs with one global batch share these two.
    """

    jobs: tuple[TrainingJob, ...]
    """What is checked, told apart by their clusters' labels; those of one trainer are not."""

    batch: str
    """Hyperparameter that holds the batch of a trainer."""

    catalog: Catalog
    """Types and prices."""

    steps: int = PARITY_STEPS
    """Steps of each launch."""

    def refuse(self, launcher: Launcher) -> None:
        """Raise what would make the check impossible.

        Raises:
            SpecError: No job has several trainers, one has no batch size, or cannot run here.
        """
        ranks = [_num_ranks(job, launcher) for job in self.jobs]
        if max(ranks) < 2:
            raise SpecError(
                f"{self.jobs[0].cluster.label} has one trainer, so there is nothing to compare "
                'with one process. Give the job several (distribution={"data": 2}), or the '
                "study more devices (devices=, --devices)."
            )
        for job, count in zip(self.jobs, ranks, strict=True):
            if count > 1:
                launcher.plan(self._alone(job, count))

    def __call__(
        self, *, launcher: Launcher, watch: LaunchWatch
    ) -> tuple[dict[str, ParityResult], Sequence[str]]:
        """Return what was found for each label, and why launches failed."""
        ranks = {job.cluster.label: _num_ranks(job, launcher) for job in self.jobs}
        several = [job for job in self.jobs if ranks[job.cluster.label] > 1]
        alone = {
            job.cluster.label: self._alone(job, ranks[job.cluster.label]) for job in several
        }
        batches = {label: str(job.hyperparameters[self.batch]) for label, job in alone.items()}
        watch.launches += len(several) + 2 * len(set(batches.values()))
        launches = TracedLaunches(launcher=launcher, watch=watch, steps=self.steps)
        known: dict[str, tuple[ParityTrace, ParityTrace] | str] = {}
        found = {}
        for job in several:
            label = job.cluster.label
            if batches[label] not in known:
                known[batches[label]] = _one_and_twin(launches, alone[label])
            traces = launches.traces(_plain(job), f"{label}, parity")
            found[label] = _judged(traces, known[batches[label]], job, ranks[label])
        return found, launches.problems

    def _alone(self, job: TrainingJob, ranks: int) -> TrainingJob:
        """Return the job of one process with the batch of all trainers."""
        size = job.hyperparameters.get(self.batch)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            is_there = self.batch in job.hyperparameters
            said = f"is {size!r}, which is no batch size" if is_there else "is not given"
            raise SpecError(
                f"One process has to take the batch of {ranks} trainers, but hyperparameter "
                f"{self.batch!r} {said}; a default of the script is not known here. Give the "
                f"job one ({{'{self.batch}': 32}}, -p {self.batch}=32), or name the one that "
                "it has (batch=, --batch)."
            )
        (one,), _ = scaled_jobs(
            [_plain(job).model_copy(update={"distribution": None})],
            [1],
            mode="weak",
            batch=self.batch,
            bigger_instances=False,
            catalog=self.catalog,
        )
        values = {**job.hyperparameters, self.batch: size * ranks // _num_parts(job)}
        return one.model_copy(update={"hyperparameters": values})


def _plain(job: TrainingJob) -> TrainingJob:
    """Return a job without emulation: parity is a matter of numbers, not of time."""
    return job.model_copy(update={"emulation": None})


def _num_ranks(job: TrainingJob, launcher: Launcher) -> int:
    return sum(len(instance.ranks) for instance in launcher.plan(_plain(job)).instances)


def _num_parts(job: TrainingJob) -> int:
    """Return how many trainers share a model and its batch, as stages or parts of layers."""
    spread = job.distribution
    return 1 if spread is None else spread.pipeline * spread.tensor


def _one_and_twin(
    launches: TracedLaunches, job: TrainingJob
) -> tuple[ParityTrace, ParityTrace] | str:
    """Return the traces of one process and its twin, or why there are none."""
    one = launches.traces(job, "one process, parity")
    if isinstance(one, str):
        launches.watch.launches -= 1
        return f"the launch of one process {one}"
    twin = launches.traces(job, "permuted samples, parity", permutes=True)
    if isinstance(twin, str):
        return f"the launch of one process with its samples permuted {twin}"
    return one[0], twin[0]


def _judged(
    traces: tuple[ParityTrace, ...] | str,
    known: tuple[ParityTrace, ParityTrace] | str,
    job: TrainingJob,
    ranks: int,
) -> ParityResult:
    if isinstance(known, str):
        return unjudged(known, ranks=ranks)
    if isinstance(traces, str):
        return unjudged(f"the launch of the trainers {traces}", ranks=ranks)
    return judge_ranks(traces, one=known[0], twin=known[1], have_parts=_num_parts(job) > 1)
