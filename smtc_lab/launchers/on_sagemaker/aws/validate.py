"""Checks a CreateTrainingJob request as the service would: here, at once, without network."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.on_sagemaker.aws.request_shapes import (
    known_instance_types,
    shape_problems,
)
from smtc_lab.spec.spot import MAX_WAIT_RULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONGEST_S = 28 * 24 * 3600
_SINGLE = ("InstanceType", "InstanceCount")
_PROFILER_INTERVALS_MS = (100, 200, 500, 1000, 5000, 60_000)


def request_problems(request: Mapping[str, Any]) -> list[str]:
    """Return why SageMaker would refuse a CreateTrainingJob request; empty: nothing is known.

    Each problem says what is wrong, the value, and what to do. What depends on the account
    (permissions, quotas, images, buckets) cannot be seen from here.

    Source:
        Fields, lengths, patterns and allowed values: botocore's service model. The rules
        between fields: the API reference of CreateTrainingJob, and answers of the service
        kept in aws/sagemaker-python-sdk #5225, #5555 and #6089.
    """
    problems = shape_problems(dict(request))
    if problems:  # the rules below read fields that would not be there
        return problems
    return [
        *_container_problems(request.get("AlgorithmSpecification") or {}),
        *_resource_problems(request.get("ResourceConfig") or {}),
        *_channel_problems(request),
        *_time_problems(request),
        *_output_problems(request),
        *_tag_problems(request.get("Tags") or []),
    ]


def request_warnings(request: Mapping[str, Any]) -> list[str]:
    """Return what may be wrong, and may just be newer than what is known here."""
    resources = request.get("ResourceConfig") or {}
    groups = resources.get("InstanceGroups") or [resources]
    known = known_instance_types()
    types = {str(group.get("InstanceType")) for group in groups if group.get("InstanceType")}
    return [
        f"Instance type {name!r} is not among the {len(known)} that this version of boto3 "
        "knows. SageMaker refuses the job if it does not exist."
        for name in sorted(types - known)
    ]


def _container_problems(container: Mapping[str, Any]) -> Iterator[str]:
    if not container:
        yield (
            "AlgorithmSpecification is missing, so there is no container to run. Give it a "
            "TrainingImage."
        )
        return
    image, algorithm = container.get("TrainingImage"), container.get("AlgorithmName")
    if bool(image) == bool(algorithm):
        yield (
            f"AlgorithmSpecification has TrainingImage={image!r} and "
            f"AlgorithmName={algorithm!r}, but needs exactly one of them. Drop one, or add one."
        )
    for metric in container.get("MetricDefinitions", []):
        name, text = metric["Name"], metric["Regex"]
        try:
            groups = re.compile(text).groups
        except re.error as error:
            yield f"The metric {name!r} has the expression {text!r}: {error}. Correct it."
            continue
        if groups != 1:
            yield (
                f"The metric {name!r} has the expression {text!r} with {groups} groups, but "
                "needs one, for the number. Put the number in brackets."
            )


def _resource_problems(resources: Mapping[str, Any]) -> Iterator[str]:
    groups = resources.get("InstanceGroups")
    single = {name: resources[name] for name in _SINGLE if name in resources}
    if groups and single:
        yield (
            f"InstanceType or InstanceCount ({single}) cannot be specified with "
            "InstanceGroups. Drop them, or the groups."
        )
    if not groups and len(single) < len(_SINGLE):
        yield (
            f"ResourceConfig has {single or 'neither InstanceGroups nor InstanceType'}, but "
            "needs InstanceGroups, or InstanceType and InstanceCount. Add them."
        )
    counts = [group["InstanceCount"] for group in groups or [] if "InstanceCount" in group]
    if single.get("InstanceCount") == 0 or (counts and sum(counts) == 0):
        yield "ResourceConfig asks for 0 instances, but needs at least 1. Raise InstanceCount."
    if resources.get("VolumeSizeInGB") == 0:
        yield "ResourceConfig.VolumeSizeInGB=0 is below 1. Give the storage of each instance."
    names = Counter(group["InstanceGroupName"] for group in groups or [])
    for name, count in names.items():
        if count > 1:
            yield f"InstanceGroupName {name!r} is used {count} times. Rename one of the groups."
    if groups and resources.get("KeepAlivePeriodInSeconds"):
        yield (
            f"KeepAlivePeriodInSeconds={resources['KeepAlivePeriodInSeconds']} is not for "
            "InstanceGroups: only the instances of a homogeneous job can be kept. Drop it."
        )


def _channel_problems(request: Mapping[str, Any]) -> Iterator[str]:
    channels = request.get("InputDataConfig", [])
    for name, count in Counter(channel["ChannelName"] for channel in channels).items():
        if count > 1:
            yield f"ChannelName {name!r} is used {count} times. Rename one of the channels."
    assigned = {}
    for channel in channels:
        name, sources = channel["ChannelName"], channel["DataSource"]
        if len(sources) != 1:
            yield (
                f"Channel {name!r} has {len(sources)} data sources ({', '.join(sources)}), but "
                "needs one. Drop the others, or add one."
            )
        from_s3 = sources.get("S3DataSource", {})
        assigned[name] = from_s3.get("InstanceGroupNames", [])
        uri = from_s3.get("S3Uri")
        if uri is not None and not uri.startswith("s3://"):
            yield f"Channel {name!r} has the S3Uri {uri!r}. Write 's3://bucket/prefix'."
        if channel.get("InputMode") == "FastFile" and from_s3.get("S3DataType") != "S3Prefix":
            yield f"Channel {name!r} is FastFile, which needs S3DataType='S3Prefix'. Change it."
    yield from _assignment_problems(assigned, request.get("ResourceConfig", {}))


def _assignment_problems(
    assigned: Mapping[str, list[str]], resources: Mapping[str, Any]
) -> Iterator[str]:
    with_groups = [name for name, groups in assigned.items() if groups]
    without = [name for name, groups in assigned.items() if not groups]
    if with_groups and without:
        yield (
            f"Some channels have assigned instance groups: {with_groups} while others not: "
            f"{without}. Assign groups to all channels, or to none."
        )
    known = [group["InstanceGroupName"] for group in resources.get("InstanceGroups", [])]
    for name in with_groups:
        for group in assigned[name]:
            if group not in known:
                choice = f"Choose among {', '.join(known)}." if known else "Drop the names."
                yield (
                    f"Channel {name!r} names the instance group {group!r}, which the job does "
                    f"not have. {choice}"
                )


def _time_problems(request: Mapping[str, Any]) -> Iterator[str]:
    condition = request.get("StoppingCondition") or {}
    runtime_s = condition.get("MaxRuntimeInSeconds")
    wait_s = condition.get("MaxWaitTimeInSeconds")
    for name, seconds in condition.items():
        if seconds > _LONGEST_S:
            yield f"{name}={seconds} is above {_LONGEST_S} s, which are 28 days. Lower it."
    if not request.get("EnableManagedSpotTraining"):
        if wait_s is not None:
            yield (
                f"MaxWaitTimeInSeconds={wait_s} is for spot instances only. Drop it, or set "
                "EnableManagedSpotTraining."
            )
        return
    if wait_s is None or (runtime_s is not None and wait_s < runtime_s):
        yield (
            f"{MAX_WAIT_RULE}: max_wait={wait_s}, max_runtime_s={runtime_s}. Raise max_wait, "
            "or lower max_runtime_s."
        )
    keep_s = (request.get("ResourceConfig") or {}).get("KeepAlivePeriodInSeconds")
    if keep_s:
        yield f"KeepAlivePeriodInSeconds={keep_s} is not for spot instances. Drop one of them."


def _output_problems(request: Mapping[str, Any]) -> Iterator[str]:
    places = {
        "OutputDataConfig.S3OutputPath": request["OutputDataConfig"]["S3OutputPath"],
        "CheckpointConfig.S3Uri": request.get("CheckpointConfig", {}).get("S3Uri"),
    }
    for name, uri in places.items():
        if uri is not None and not re.match("s3://[^/]", uri):
            yield f"{name}={uri!r} is not a place in S3. Write 's3://bucket/prefix'."
    interval_ms = request.get("ProfilerConfig", {}).get("ProfilingIntervalInMilliseconds")
    if interval_ms is not None and interval_ms not in _PROFILER_INTERVALS_MS:
        yield (
            f"ProfilingIntervalInMilliseconds={interval_ms} is not allowed. Choose among "
            f"{', '.join(map(str, _PROFILER_INTERVALS_MS))}."
        )


def _tag_problems(tags: list[Mapping[str, str]]) -> Iterator[str]:
    for name, count in Counter(tag["Key"] for tag in tags).items():
        if count > 1:
            yield f"The tag {name!r} is given {count} times. Drop all but one."
        if name.lower().startswith("aws:"):
            yield f"The tag {name!r} begins with 'aws:', which is AWS's own. Rename it."
