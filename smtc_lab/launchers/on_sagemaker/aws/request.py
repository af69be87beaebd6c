"""The CreateTrainingJob request of a job. Pure: no network, no credentials."""

from __future__ import annotations

import getpass
import hashlib
import json
import math
import platform
import re
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.hyperparameters import encode_hyperparameters
from smtc_lab.instance.opt_ml import DATA_FOLDER
from smtc_lab.instance.resource_config import DEFAULT_BASE_FOLDER
from smtc_lab.launchers.planning import is_in_s3
from smtc_lab.spec.metric_definitions import MAX_DEFINITIONS
from smtc_lab.version import __version__

if TYPE_CHECKING:
    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
    from smtc_lab.spec.channel import Channel
    from smtc_lab.spec.job import TrainingJob

SOURCE_CHANNEL = "smtc"
"""Channel that brings the source; see ``source.py`` for what lies in it."""

TAG_OWNER = "smtc-lab:owner"
"""Tag with the name of the user who launched the job; ``sweep`` finds jobs by it."""

TAG_MACHINE = "smtc-lab:machine"
"""Tag with the name of the machine that launched the job."""

TAG_REQUEST = "smtc-lab:request"
"""Tag with a digest of the request: tells our own job from another of the same name."""

SOURCE = f"{DEFAULT_BASE_FOLDER}/{DATA_FOLDER}/{SOURCE_CHANNEL}"
"""Where a container finds that channel."""

_ENTRYPOINT = ["python3", f"{SOURCE}/start.py"]
_CHECKPOINTS = f"{DEFAULT_BASE_FOLDER}/checkpoints"
_PROFILER_INTERVAL_MS = 500
_LONGEST_S = 28 * 24 * 3600
_NUMBER = r"(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)"
_RECORDED = ("step_time_s", "data_wait_s", "samples_per_s")
_PRINTED = ("loss", "accuracy", "learning_rate", "tokens_per_s")


def training_request(job: TrainingJob, settings: SageMakerSettings) -> dict[str, Any]:
    """Return the exact request for a job that has a name.

    Raises:
        SpecError: A hyperparameter that cannot be passed on.
    """
    name = str(job.job_name)
    request: dict[str, Any] = {
        "TrainingJobName": name,
        "RoleArn": settings.role_arn,
        "AlgorithmSpecification": _container(job, settings),
        "HyperParameters": encode_hyperparameters(job.hyperparameters),
        "InputDataConfig": _channels(job, settings),
        "OutputDataConfig": {"S3OutputPath": settings.root_uri},
        "CheckpointConfig": {
            "S3Uri": job.checkpoint_s3_uri or settings.job_uri(name, "checkpoints"),
            "LocalPath": job.checkpoint_local_path or _CHECKPOINTS,
        },
        "ResourceConfig": _resources(job, settings),
        "StoppingCondition": {"MaxRuntimeInSeconds": math.ceil(job.max_runtime_s)},
        "Environment": dict(job.environment),
        "ProfilerConfig": _profiler(settings),
    }
    if settings.use_spot or job.use_spot_instances:
        request["EnableManagedSpotTraining"] = True
        longest_s = min(_LONGEST_S, job.max_runtime_s + 3600)
        wait_s = job.max_wait or settings.max_wait_s or longest_s
        request["StoppingCondition"]["MaxWaitTimeInSeconds"] = math.ceil(wait_s)
    if settings.retry_attempts:
        request["RetryStrategy"] = {"MaximumRetryAttempts": settings.retry_attempts}
    if settings.subnets:
        request["VpcConfig"] = {
            "Subnets": list(settings.subnets),
            "SecurityGroupIds": list(settings.security_group_ids),
        }
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:32]
    tags = {
        **settings.tags,
        TAG_OWNER: owner(),
        TAG_MACHINE: _as_tag(platform.node()),
        "smtc-lab:job": name,
        "smtc-lab:version": __version__,
        TAG_REQUEST: digest,
    }
    request["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    return request


def owner() -> str:
    """Return by which name our jobs are tagged: the user's on this machine."""
    try:
        return _as_tag(getpass.getuser())
    except (OSError, KeyError):  # a container's user may have no name
        return "unknown"


def _container(job: TrainingJob, settings: SageMakerSettings) -> dict[str, Any]:
    container: dict[str, Any] = {
        "TrainingImage": settings.image_uri,
        "TrainingInputMode": settings.input_mode,
        "ContainerEntrypoint": _ENTRYPOINT,
    }
    definitions = [dict(each) for each in job.metric_definitions]
    if settings.metric_definitions:
        names = {each["Name"] for each in definitions}
        ours = [
            *({"Name": name, "Regex": f'"{name}": ?{_NUMBER}'} for name in _RECORDED),
            *({"Name": name, "Regex": rf"(?:^|[\s,;]){name}={_NUMBER}"} for name in _PRINTED),
        ]
        definitions += [each for each in ours if each["Name"] not in names]
    if definitions:
        container["MetricDefinitions"] = definitions[:MAX_DEFINITIONS]
    return container


def _channels(job: TrainingJob, settings: SageMakerSettings) -> list[dict[str, Any]]:
    """Return the job's channels and that of the source. All of them name groups, or none."""
    groups = [group.instance_group_name for group in job.cluster.instance_groups]
    names_groups = len(groups) > 1 and any(item.instance_group_names for item in job.channels)
    source = {**_channel(SOURCE_CHANNEL, source_uri(job, settings)), "InputMode": "File"}
    channels = [source]
    channels += [
        _channel(item.channel_name, channel_uri(job, item, settings)) for item in job.channels
    ]
    if names_groups:
        assigned = [groups, *(list(item.instance_group_names) for item in job.channels)]
        for channel, names in zip(channels, assigned, strict=True):
            channel["DataSource"]["S3DataSource"]["InstanceGroupNames"] = names
    return channels


def source_uri(job: TrainingJob, settings: SageMakerSettings) -> str:
    """Return where the source of a job lies in S3.

    Ends with ``/``, as a prefix is the begin of a name: ``source`` would bring ``source-old``.
    """
    return settings.job_uri(str(job.job_name), "source", "")


def channel_uri(job: TrainingJob, channel: Channel, settings: SageMakerSettings) -> str:
    """Return where a channel's files lie in S3: where its source says, or where we put them."""
    if is_in_s3(channel):
        return channel.source
    return settings.job_uri(str(job.job_name), "channels", channel.channel_name, "")


def _channel(name: str, uri: str) -> dict[str, Any]:
    source = {
        "S3DataType": "S3Prefix",
        "S3Uri": uri,
        "S3DataDistributionType": "FullyReplicated",
    }
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def _resources(job: TrainingJob, settings: SageMakerSettings) -> dict[str, Any]:
    resources: dict[str, Any] = {"VolumeSizeInGB": settings.volume_gb}
    groups = job.cluster.instance_groups
    if len(groups) == 1:
        resources["InstanceType"] = groups[0].instance_type
        resources["InstanceCount"] = groups[0].instance_count
    else:
        resources["InstanceGroups"] = [
            {
                "InstanceGroupName": group.instance_group_name,
                "InstanceType": group.instance_type,
                "InstanceCount": group.instance_count,
            }
            for group in groups
        ]
    if settings.keep_alive_s:
        resources["KeepAlivePeriodInSeconds"] = settings.keep_alive_s
    return resources


def _profiler(settings: SageMakerSettings) -> dict[str, Any]:
    if not settings.profiler:
        return {"DisableProfiler": True}
    return {
        "S3OutputPath": settings.root_uri,
        "ProfilingIntervalInMilliseconds": _PROFILER_INTERVAL_MS,
    }


def _as_tag(text: str) -> str:
    """Return a text with the characters that a tag may have."""
    return re.sub(r"[^\w .:/=+@-]", "-", text)[:256] or "unknown"
