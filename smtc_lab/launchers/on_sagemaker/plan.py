"""What a job becomes on SageMaker: its request, its instances, what it costs at worst."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.instance.resource_config import DEFAULT_BASE_FOLDER
from smtc_lab.launchers.job_environment import elsewhere_problems
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.on_sagemaker.aws.request import source_uri, training_request
from smtc_lab.launchers.on_sagemaker.aws.validate import request_problems, request_warnings
from smtc_lab.launchers.on_sagemaker.cost import order_of, worst_case_usd
from smtc_lab.launchers.planning import (
    Slot,
    entry_point_problems,
    instance_plans,
    is_in_s3,
    named,
    place,
    price_notes,
)
from smtc_lab.launchers.source_archive import folder_problems, source_problems
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import Placed, PlacedGroup
    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
    from smtc_lab.spec.channel import Channel
    from smtc_lab.spec.job import TrainingJob

GRACE_S = 120.0
"""Time between TERM and KILL, as the platform gives it."""

MAX_CHANNEL_BYTES = 2**30
MAX_CHANNEL_FILES = 10_000
"""Limits of a folder that is sent along as a channel."""

OUR_FOLDER = f"{DEFAULT_BASE_FOLDER}/smtc_lab"
"""Where a container keeps what is ours."""

_CREDENTIALS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}


def make_plan(job: TrainingJob, settings: SageMakerSettings, catalog: Catalog) -> LaunchPlan:
    """Return the exact request. No network, no credentials.

    Raises:
        SpecError: SageMaker cannot run the job, or would refuse it; all reasons at once.
    """
    problems = [*_job_problems(job), *_local_problems(job)]
    where = None
    try:
        where = _placed(job, catalog)
    except SpecError as error:
        problems += error.problems
    job = named(job)
    if settings.use_spot:  # its older name; everything else asks the job
        job = job.model_copy(update={"use_spot_instances": True})
    request: dict[str, Any] = {}
    try:
        request = training_request(job, settings)
        problems += request_problems(request)
    except SpecError as error:
        problems += error.problems
    if where is None or problems:
        raise SpecError(problems)
    facts = {
        "sagemaker": {
            "request": request,
            "settings": settings.model_dump(mode="json"),
            "source_s3_uri": source_uri(job, settings).rstrip("/"),
        },
        "worst_case_usd": worst_case_usd(
            where.usd_per_hour,
            max_runtime_s=job.max_runtime_s,
            keep_alive_s=settings.keep_alive_s,
        ),
        "warnings": [*request_warnings(request), *_assumed(job, settings, request)],
        "grace_s": GRACE_S,
    }
    plan = LaunchPlan(
        launcher="sagemaker",
        job=job,
        instances=instance_plans(job, where, _slot_of),
        usd_per_hour=where.usd_per_hour,
        price_notes=price_notes(where),
        facts=facts,
        request=request,
    )
    return replace(plan, order=order_of(plan, settings))


def _assumed(
    job: TrainingJob, settings: SageMakerSettings, request: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is asked for though nobody said it."""
    if job.use_spot_instances and job.max_wait is None and settings.max_wait_s is None:
        wait_s = request["StoppingCondition"]["MaxWaitTimeInSeconds"]
        yield (
            f"max_wait is not given, so SageMaker is told {wait_s} s: max_runtime_s and an "
            "hour (28 days at most). Give max_wait to wait longer for spot instances."
        )


def _slot_of(host: str, each: PlacedGroup) -> Slot:
    """Return what an instance gets; one of a type that is not known counts its own vCPUs."""
    return Slot(address=host, num_cpus=1 if each.known is None else each.known.vcpus)


def _job_problems(job: TrainingJob) -> Iterator[str]:
    """Return what of a job is for this machine only."""
    for group in job.cluster.instance_groups:
        if group.instance_type == LOCAL:
            yield (
                f"Instance group {group.instance_group_name!r} has the type {LOCAL!r}, which "
                "is this machine. Give a SageMaker type, for example 'ml.c5.9xlarge'."
            )
    if (path := job.checkpoint_local_path) is not None and _is_ours(Path(path)):
        yield (
            f"checkpoint_local_path={path[:200]!r} would hold {OUR_FOLDER}, which each start "
            "of a container makes anew, or lie in it. Choose another folder, such as "
            "'/opt/ml/checkpoints'."
        )
    yield from elsewhere_problems(job, "a container runs what its image holds")
    if job.emulation is not None:
        yield (
            f"The job has an emulation ({job.emulation!r:.80}), which stands in for hardware "
            "that is missing, and SageMaker has it. Drop the emulation."
        )
    for name in sorted(_CREDENTIALS & set(job.environment)):
        yield (
            f"The environment variable {name} would be shown to everyone who may describe the "
            "job. Drop it: a container has the rights of role_arn."
        )


def _is_ours(path: Path) -> bool:
    return path.is_relative_to(OUR_FOLDER) or Path(OUR_FOLDER).is_relative_to(path)


def _local_problems(job: TrainingJob) -> list[str]:
    """Return why what the job needs of this machine cannot be sent."""
    problems = entry_point_problems(job)
    if not problems:
        problems = source_problems(job.entry_point)
    for channel in job.channels:
        if not is_in_s3(channel):
            problems += _folder_problems(channel)
    return problems


def _folder_problems(channel: Channel) -> list[str]:
    what = f"Channel {channel.channel_name!r} has the source {channel.source!r}, which"
    if not Path(channel.source).is_dir():
        where = "is neither a folder of this machine nor in S3"
        return [f"{what} {where}. Correct the path, or write 's3://bucket/prefix'."]
    return folder_problems(
        Path(channel.source),
        what=what,
        max_files=MAX_CHANNEL_FILES,
        max_bytes=MAX_CHANNEL_BYTES,
        remedy="Copy it to S3 once ('aws s3 sync'), and give 's3://bucket/prefix' as source.",
    )


def _placed(job: TrainingJob, catalog: Catalog) -> Placed:
    """Return where a job is placed. A type that the catalog does not know needs a role."""
    try:
        return place(job, catalog, runs_here=False)
    except CatalogError as error:
        raise SpecError(
            f"{error} Or give every instance group its role ('train' or 'data'), if the "
            "type is a new one."
        ) from None
