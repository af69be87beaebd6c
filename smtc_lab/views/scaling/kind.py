"""What views know of scaling studies: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.metrics.scaling.scale_runs import DEFAULT_BOUND
from smtc_lab.spec.cluster import Cluster
from smtc_lab.study.comparison.compare import DEFAULT_ROUNDS
from smtc_lab.study.folder import StudyFolder
from smtc_lab.study.scaling.scale import SCALING as NAME
from smtc_lab.study.scaling.scale import ScalingRun, question_of
from smtc_lab.views.code.cells import scale_code
from smtc_lab.views.comparison.kind import ComparisonKind
from smtc_lab.views.scaling.follower import ScalingFollower
from smtc_lab.views.scaling.info import scaling_of, scaling_section

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.scaling.scaling import Scaling
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.study.info import Section
    from smtc_lab.views.study.snapshot import StudySnapshot


_GIVEN = {
    "mode": "weak",
    "batch": "batch_size",
    "within": None,
    "bound": DEFAULT_BOUND,
    "bigger_instances": False,
    "samples_per_epoch": None,
    "parity": False,
}
"""What ``launch_scaling`` takes, and what it takes where nothing is given."""


class ScalingKind(ComparisonKind):
    """A scaling study: efficiencies, losses and prices by number of devices."""

    opening = "lab.ScalingRun.open({name!r})"

    def open(self, path: Path) -> ScalingRun:  # type: ignore[override]
        """Return the study in a folder."""
        return ScalingRun(StudyFolder(path))

    def follower(self, run: StudyRun, stream: Stream) -> ScalingFollower:
        """Return what follows it."""
        return ScalingFollower(run, stream)

    def verdict(self, follower: StudyFollower) -> str | None:
        """Return how the job grows, by what is complete."""
        scaling = _scaling(follower)
        return None if scaling is None else scaling.verdict

    def findings(self, follower: StudyFollower) -> tuple[Finding, ...]:
        """Return advice with this job's numbers, and what the comparison says of itself."""
        scaling = _scaling(follower)
        return scaling.findings if scaling is not None and self.is_verdict(follower) else ()

    def sections(self, follower: StudyFollower) -> tuple[Section, ...]:
        """Return its charts, once a round is whole."""
        scaling = _scaling(follower)
        names = [job.cluster.label for job in follower.jobs]
        return () if scaling is None else scaling_section(scaling, names)

    def code(self, request: StudyRequest) -> str:
        """Return the lines of a notebook that scale the same; empty: they cannot be told."""
        options = request.options
        try:
            jobs = asked_jobs(request)
        except (StoreError, KeyError, TypeError, ValueError):
            return ""  # the folder may be somebody else's
        if not jobs:
            return ""
        question = question_of(request, catalog=request.catalog, looks=1)
        counts = sorted({each.devices for each in question.set_ups})
        given = {name: options.get(name) for name in _GIVEN} | {"rounds": request.rounds}
        told = {
            name: value
            for name, value in given.items()
            if value != _GIVEN.get(name, DEFAULT_ROUNDS)
        }
        return scale_code(jobs, counts, told)

    def figure(self, seen: StudySnapshot) -> Figure | None:
        """Return efficiency, losses and prices over devices; None: no round is whole."""
        # matplotlib takes most of a second to import
        from smtc_lab.views.scaling.figure import scaling_figure  # noqa: PLC0415

        scaling = scaling_of(seen.info)
        return None if scaling is None else scaling_figure(scaling, scale=seen.info.scale)


def asked_jobs(request: StudyRequest) -> list[TrainingJob]:
    """Return the jobs that were to be scaled, by the first set-up of each curve.

    Their values are those of the request's jobs, which a shared page has taken them out of.

    Raises:
        StoreError: What was asked is damaged.
        ValueError: A cluster is.
    """
    question = question_of(request, catalog=request.catalog, looks=1)
    batch, curves, jobs = str(request.options["batch"]), set[str](), []
    clusters = [Cluster.model_validate(each) for each in request.options["clusters"]]
    for job, design in zip(request.jobs, question.set_ups, strict=True):
        if design.curve in curves:
            continue
        values = dict(job.hyperparameters)
        size = values.get(batch)
        if question.mode == "strong" and isinstance(size, int):
            values[batch] = size * design.devices
        shared = job.distribution is not None and job.distribution.shard > 1
        if shared:  # no public name says it
            return []
        changes = {
            "cluster": clusters[len(curves)],
            "hyperparameters": values,
            "distribution": None,
        }
        jobs.append(job.model_copy(update=changes))
        curves.add(design.curve)
    return jobs


def _scaling(follower: StudyFollower) -> Scaling | None:
    return follower.scaling if isinstance(follower, ScalingFollower) else None


SCALING = ScalingKind(NAME)
