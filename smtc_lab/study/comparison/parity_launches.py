"""Short launches that find out whether set-ups train the model that the eager one trains."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from smtc_lab.launchers.job_environment import environment_name
from smtc_lab.machine.environments.named import TODAY
from smtc_lab.metrics.parity import judge, unjudged
from smtc_lab.study.comparison.traced_launches import PARITY_STEPS, TracedLaunches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.parity_trace import ParityTrace
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import LaunchWatch


class ParityCheck(Protocol):
    """Finds out, in launches of its own, whether the compared jobs train the same model."""

    def __call__(
        self, runs: Sequence[RunRecords], *, launcher: Launcher, watch: LaunchWatch
    ) -> tuple[Mapping[str, ParityResult], Sequence[str]]:
        """Return what was found for each label, and what a reader must know of it."""
        ...


@dataclass(frozen=True, kw_only=True)
class ParityLaunches:
    """Compares losses and weights of each set-up with the eager one's, in fresh processes.

    Eager is launched twice, the second time with another number of threads: what these two
    differ by is the noise that any correct compiler may make too.
    """

    jobs: tuple[TrainingJob, ...]
    """What is compared, the baseline first."""

    steps: int = PARITY_STEPS
    """Steps of each launch."""

    def __call__(
        self, runs: Sequence[RunRecords], *, launcher: Launcher, watch: LaunchWatch
    ) -> tuple[Mapping[str, ParityResult], Sequence[str]]:
        """Return what was found for each label that completed, and why launches failed."""
        eager_job = _eager_job(self.jobs)
        known = _subject(eager_job)
        subjects = {
            label: subject
            for label, subject in _checked(self.jobs, runs).items()
            if subject != known
        }
        if not subjects:
            return {}, ()
        watch.launches += 2 + len(set(subjects.values()))
        launches = TracedLaunches(launcher=launcher, watch=watch, steps=self.steps)
        eager = launches.trace(eager_job, "eager, parity")
        if isinstance(eager, str):
            unknown = unjudged(f"the eager launch {eager}")
            return dict.fromkeys(subjects, unknown), launches.problems
        noise = launches.trace(eager_job, "other threads, parity", other_threads=True)
        found: dict[_Subject, ParityResult] = {}
        for subject in subjects.values():
            if subject not in found:
                job = eager_job.model_copy(update=asdict(subject))
                trace = launches.trace(job, subject.name)
                found[subject] = _judged(trace, eager, noise, subject.compiler_config)
        return {label: found[subject] for label, subject in subjects.items()}, launches.problems


@dataclass(frozen=True, kw_only=True)
class _Subject:
    """What of a job decides which model comes out of it; fields of ``TrainingJob``."""

    compiler_config: TrainingCompilerConfig | None
    python_environment: str | None

    @property
    def name(self) -> str:
        """What the launch is called."""
        backend = self.compiler_config.backend if self.compiler_config else "eager"
        is_told = self.python_environment in {None, backend}
        where = "" if is_told else f" in {self.python_environment}"
        return f"{backend}{where}, parity"


def _subject(job: TrainingJob) -> _Subject:
    name = environment_name(job)
    return _Subject(
        compiler_config=job.compiler_config,
        python_environment=None if name == TODAY else name,
    )


def _judged(
    candidate: ParityTrace | str,
    eager: ParityTrace,
    noise: ParityTrace | str,
    config: TrainingCompilerConfig | None,
) -> ParityResult:
    """Return what a trace shows; a text instead of a trace says why there is none."""
    if isinstance(candidate, str):
        return unjudged(f"its launch {candidate}")
    known_noise = None if isinstance(noise, str) else noise
    precision = "highest" if config is None else config.precision
    return judge(candidate, eager=eager, noise=known_noise, precision=precision)


def _eager_job(jobs: Sequence[TrainingJob]) -> TrainingJob:
    """Return the eager job that is right by definition: one of them, or made of the first.

    It runs without emulation: parity is a matter of numbers, not of time.
    """
    for job in jobs:
        config = job.compiler_config
        if config is not None and config.enabled and config.backend == "eager":
            return job.model_copy(update={"emulation": None})
    configs = [job.compiler_config for job in jobs if job.compiler_config is not None]
    plain = {"backend": "eager", "mode": "default", "dynamic": None, "per_block": None}
    eager = configs[0].model_copy(update=plain) if configs else None
    return jobs[0].model_copy(update={"emulation": None, "compiler_config": eager})


def _checked(jobs: Sequence[TrainingJob], runs: Sequence[RunRecords]) -> dict[str, _Subject]:
    """Return what to check by label; of ``auto``, the backend that it chose."""
    subjects = {}
    for job in jobs:
        config, label = job.compiler_config, job.cluster.label
        done = [run for run in runs if run.label == label]
        is_left_out = config is not None and not (config.enabled and config.check_parity)
        if is_left_out or not done or (config is None and _subject(job) == _subject(jobs[0])):
            continue
        if config is not None and config.backend == "auto":
            chosen = [report.backend for run in done for report in run.compiler.values()]
            if not chosen:
                continue
            config = config.model_copy(update={"backend": chosen[-1]})
        subjects[label] = _subject(job.model_copy(update={"compiler_config": config}))
    return subjects
