"""The set-ups that a form holds: those it begins with, and what is wrong with what is typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_cpu_speed import known_cpu_speed
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.examples import example
from smtc_lab.launchers.planning import is_in_s3
from smtc_lab.machine.environments.named import TODAY
from smtc_lab.rules.before_launch import launch_cautions
from smtc_lab.spec.cluster import LOCAL, Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.duration import least_time_on_this_machine
from smtc_lab.views.code.cells import compare_code, job_code
from smtc_lab.views.code.typed_job import typed_job
from smtc_lab.views.environments.choices import EnvironmentChoices, named_choices

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST_CLUSTERS = (
    "homogeneous@dnn_group=ml.p3.2xlarge:1",
    "heterogeneous@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1",
)
_FIRST_STEPS = 32
_DEVICE_STEP_TIME_S = 0.005
_LONGEST_NAME = 64


@dataclass(frozen=True, kw_only=True)
class CheckedSetUps:
    """What came of the set-ups of a form."""

    problems: tuple[tuple[str, ...], ...]
    """For each set-up, what is wrong with it, one sentence for each problem."""

    cautions: tuple[str, ...]
    """What a user should know before they are launched, though they can be; of an emulation
    how long that takes here at least."""

    jobs: tuple[TrainingJob, ...]
    """The set-ups, ready to launch; empty while there are problems."""

    code: str
    """The lines of Python that compare them; empty while there are problems."""

    cells: tuple[str, ...]
    """For each set-up, the lines of Python that launch it; empty while it has problems."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "problems": self.problems,
            "cautions": self.cautions,
            "jobs": [job.model_dump(mode="json") for job in self.jobs],
            "code": self.code,
            "cells": self.cells,
        }


def checked_set_ups(
    values: Sequence[object],
    rounds: int,
    *,
    environments: EnvironmentChoices | None = None,
    folder: Path | None = None,
) -> CheckedSetUps:
    """Check the set-ups of a form.

    Args:
        values: Each a ``TrainingJob`` as JSON, legal or not; the baseline first.
        rounds: Launches of each set-up, at least 1.
        environments: What is known of the Python environments; None: their names.
        folder: Where relative paths count from; None: the working directory.
    """
    environments = named_choices() if environments is None else environments
    checked = [_checked(value, environments) for value in values]
    problems = tuple(problems for _, problems in checked)
    legal = tuple(job for job, _ in checked if job is not None)
    jobs = () if any(problems) else _told_apart(legal)
    catalog = Catalog.load()
    told = launch_cautions([placed(job, folder or Path()) for job in jobs], catalog)
    return CheckedSetUps(
        problems=problems,
        cautions=tuple(filter(None, (*told, _least_time(jobs, catalog, rounds)))),
        jobs=jobs,
        code=compare_code(jobs, rounds) if jobs else "",
        cells=tuple("" if job is None else job_code(job) for job, _ in checked),
    )


def first_jobs() -> list[TrainingJob]:
    """Return the pair of the demo."""
    return [
        TrainingJob(
            entry_point=example("digits"),
            cluster=Cluster.parse(text),
            hyperparameters={"batch_size": 64, "work": 20},
            emulation=Emulation(device_step_time_s=_DEVICE_STEP_TIME_S),
            max_steps=_FIRST_STEPS,
        )
        for text in _FIRST_CLUSTERS
    ]


def _checked(
    value: object, environments: EnvironmentChoices
) -> tuple[TrainingJob | None, tuple[str, ...]]:
    """Return the job of a form, or None and what is wrong with it."""
    try:
        job = runnable(typed_job(value))
    except SpecError as error:
        return None, tuple(error.problems)
    problems = [*_unknown_types(job), *environments.problems(job)]
    return (None, tuple(problems)) if problems else (job, ())


def _unknown_types(job: TrainingJob) -> list[str]:
    """Return what is wrong with the instance types of a job, once each, with the nearest."""
    catalog = Catalog.load()
    problems = []
    for name in dict.fromkeys(group.instance_type for group in job.cluster.instance_groups):
        try:
            if name != LOCAL:
                catalog.get(name)
        except CatalogError as error:
            problems.append(str(error))
    return problems


def _least_time(jobs: Sequence[TrainingJob], catalog: Catalog, rounds: int) -> str:
    """Return how long a comparison takes here at least; empty: nothing tells, or not yet."""
    if known_cpu_speed() is None:  # whoever types does not wait for a benchmark
        return ""
    return least_time_on_this_machine(jobs, catalog, rounds=rounds) if jobs else ""


def _told_apart(jobs: Sequence[TrainingJob]) -> tuple[TrainingJob, ...]:
    """Return jobs whose clusters are called alike with their environment in the name.

    Those that differ in nothing else than the environment are what upgrading is tried with.
    """
    labels = [job.cluster.label for job in jobs]
    return tuple(
        job if labels.count(job.cluster.label) == 1 else _named_by_environment(job, jobs)
        for job in jobs
    )


def _named_by_environment(job: TrainingJob, jobs: Sequence[TrainingJob]) -> TrainingJob:
    label = job.cluster.label
    alike = {_environment(other) for other in jobs if other.cluster.label == label}
    if len(alike) == 1:
        return job  # what starts them says that they cannot be told apart
    environment = f", {_environment(job)}"
    name = (label[: max(1, _LONGEST_NAME - len(environment))] + environment)[:_LONGEST_NAME]
    cluster = Cluster(instance_groups=job.cluster.instance_groups, name=name)
    return job.model_copy(update={"cluster": cluster})


def _environment(job: TrainingJob) -> str:
    return job.python_environment or TODAY


def placed(job: TrainingJob, folder: Path) -> TrainingJob:
    """Return a job of a form whose relative paths count from a folder."""
    channels = tuple(
        channel
        if is_in_s3(channel)
        else channel.model_copy(update={"source": str(folder / channel.source)})
        for channel in job.channels
    )
    entry_point = str(folder / job.entry_point)
    return job.model_copy(update={"entry_point": entry_point, "channels": channels})


def runnable(job: TrainingJob) -> TrainingJob:
    """Return the job with the emulation that its instance types need, and no other."""
    if all(group.instance_type == LOCAL for group in job.cluster.instance_groups):
        return job.model_copy(update={"emulation": None})
    return job.model_copy(update={"emulation": job.emulation or Emulation()})
