"""What a job's containers need of this machine, in S3.

Under ``<s3_uri>/<job>/source/``, which is the channel ``smtc``::

    start.py        what the container runs
    source.tar.gz   smtc_lab/ (this package) and code/ (the folder of the user's script)
    job.json        the job, and what the agent of each instance is told
    secret          the secret of the job's data service

and under ``<s3_uri>/<job>/channels/<name>/`` the folders of this machine that are channels.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.opt_ml import DATA_FOLDER
from smtc_lab.instance.resource_config import DEFAULT_BASE_FOLDER
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.on_sagemaker.aws.clients import aws_errors
from smtc_lab.launchers.planning import is_in_s3
from smtc_lab.launchers.source_archive import CODE, files_below, pack_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
    from smtc_lab.spec.job import TrainingJob

_NOWHERE = "0.0.0.0"  # noqa: S104  stands for an address that is not known yet; nothing listens on it
_DATA = f"{DEFAULT_BASE_FOLDER}/{DATA_FOLDER}"
_UPLOADS_AT_ONCE = 8
_DELETED_AT_ONCE = 1000


def upload_source(
    plan: LaunchPlan,
    settings: SageMakerSettings,
    s3: Any,  # noqa: ANN401  boto3 makes its classes as it runs
    *,
    secret: bytes,
) -> None:
    """Put everything to S3 that the job's containers need.

    Raises:
        LauncherError: AWS refused it, or cannot be reached.
    """
    job = plan.job
    key = _key(settings, str(job.job_name), "source")
    objects = {
        "start.py": resources.files("smtc_lab.runtime.sagemaker")
        .joinpath("start.py")
        .read_bytes(),
        "source.tar.gz": pack_source(job.entry_point),
        "job.json": json.dumps(job_facts(plan, settings), indent=1).encode(),
        "secret": secret,
    }
    with aws_errors(f"put the source of job {job.job_name!r} to {settings.root_uri!r}"):
        for name, content in objects.items():
            s3.put_object(Bucket=settings.bucket, Key=f"{key}/{name}", Body=content)
    files = list(_channel_files(job, settings))
    with (
        aws_errors(f"put the channels of job {job.job_name!r} to {settings.root_uri!r}"),
        ThreadPoolExecutor(_UPLOADS_AT_ONCE) as uploads,
    ):
        done = [uploads.submit(_upload, s3, path, settings.bucket, key) for path, key in files]
        try:
            for each in done:
                each.result()
        except BaseException:
            uploads.shutdown(wait=False, cancel_futures=True)
            raise


def remove_source(
    settings: SageMakerSettings,
    job_name: str,
    s3: Any,  # noqa: ANN401  boto3 makes its classes as it runs
) -> None:
    """Delete what ``upload_source`` has put to S3.

    Raises:
        LauncherError: AWS refused it, or cannot be reached.
    """
    with aws_errors(f"delete the source of job {job_name!r} from {settings.root_uri!r}"):
        for part in ("source", "channels"):
            pages = s3.get_paginator("list_objects_v2").paginate(
                Bucket=settings.bucket,
                Prefix=f"{_key(settings, job_name, part)}/",
                PaginationConfig={"PageSize": _DELETED_AT_ONCE},
            )
            for page in pages:
                found = [{"Key": item["Key"]} for item in page.get("Contents", [])]
                if found:
                    s3.delete_objects(Bucket=settings.bucket, Delete={"Objects": found})


def remove_secret(
    settings: SageMakerSettings,
    job_name: str,
    s3: Any,  # noqa: ANN401  boto3 makes its classes as it runs
) -> None:
    """Delete the secret of a job that has ended. Safe to call again.

    Raises:
        LauncherError: AWS refused it, or cannot be reached.
    """
    with aws_errors(f"delete the secret of job {job_name!r} from {settings.root_uri!r}"):
        key = f"{_key(settings, job_name, 'source')}/secret"
        s3.delete_object(Bucket=settings.bucket, Key=key)


def job_facts(plan: LaunchPlan, settings: SageMakerSettings) -> dict[str, Any]:
    """Return the content of ``job.json``.

    What only the platform knows is a placeholder in it: addresses, the run folder, the numbers
    of CPUs and GPUs.
    """
    job = plan.job
    place = AgentPlace(
        run_folder="",
        entry_point=Path(CODE, Path(job.entry_point).name),
        python="python3",
        channels={item.channel_name: f"{_DATA}/{item.channel_name}" for item in job.channels},
    )
    instances = tuple(replace(item, address=_NOWHERE) for item in plan.instances)
    unplaced = replace(plan, instances=instances)
    return {
        "job_name": job.job_name,
        "entry_point": str(place.entry_point),
        "linger_s": settings.linger_s,
        "grace_s": plan.facts["grace_s"],
        "job": job.model_dump(mode="json"),
        "instances": [asdict(item) for item in plan.instances],
        "agents": {
            item.host: asdict(describe_instance(unplaced, item, place)) for item in instances
        },
    }


def _channel_files(job: TrainingJob, settings: SageMakerSettings) -> Iterator[tuple[Path, str]]:
    """Yield each file of the channels that lie on this machine, and its key."""
    for channel in job.channels:
        if not is_in_s3(channel):
            folder = Path(channel.source)
            key = _key(settings, str(job.job_name), "channels", channel.channel_name)
            for path in files_below(folder):
                yield path, f"{key}/{path.relative_to(folder).as_posix()}"


def _upload(s3: Any, path: Path, bucket: str, key: str) -> None:  # noqa: ANN401  boto3 makes its classes as it runs
    with path.open("rb") as file:
        s3.put_object(Bucket=bucket, Key=key, Body=file)


def _key(settings: SageMakerSettings, job_name: str, *parts: str) -> str:
    return settings.job_uri(job_name, *parts).removeprefix(f"s3://{settings.bucket}/")
