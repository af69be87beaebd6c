"""Our request equals what the SageMaker SDK v2 sends for the same job, but for named fields.

``golden/make_golden.py`` says how the files were made (sagemaker 2.257, own environment).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.on_sagemaker.aws.request import training_request
from smtc_lab.launchers.on_sagemaker.aws.validate import request_problems
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden"

DIFFERENCES = {
    "AlgorithmSpecification.ContainerEntrypoint": (
        "Our container starts our runtime. The SDK's starts the toolkit of its image."
    ),
    "HyperParameters.sagemaker_program": "Tells the toolkit of the SDK's images what to run.",
    "HyperParameters.sagemaker_submit_directory": "Tells that toolkit where the source lies.",
    "HyperParameters.sagemaker_container_log_level": "Is that toolkit's own.",
    "HyperParameters.sagemaker_job_name": "Is that toolkit's own.",
    "HyperParameters.sagemaker_region": "Is that toolkit's own.",
    "InputDataConfig.smtc": "Brings our source; the SDK's toolkit downloads it by itself.",
    "CheckpointConfig.LocalPath": "Said outright; the SDK leaves it to the default, the same.",
    "Tags.smtc-lab:owner": "Lets 'runs sweep' find our jobs.",
    "Tags.smtc-lab:machine": "Lets 'runs sweep' say where a job was launched.",
    "Tags.smtc-lab:job": "Lets costs be told apart by job.",
    "Tags.smtc-lab:version": "Tells which version of ours made the request.",
    "Tags.smtc-lab:request": "Tells our own job from another one of the same name.",
}
"""Every field that differs, and why."""

JOBS = {
    "heterogeneous": {
        "cluster": "dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2",
        "channels": [("train", ["data_group"]), ("test", ["dnn_group", "data_group"])],
        "settings": {"use_spot": True, "max_wait_s": 7200.0},
    },
    "homogeneous": {
        "cluster": "all=ml.p3.2xlarge:2",
        "channels": [("train", [])],
        "settings": {
            "keep_alive_s": 600,
            "subnets": ["subnet-1"],
            "security_group_ids": ["sg-1"],
        },
    },
}


def ours(name: str) -> dict[str, Any]:
    given = JOBS[name]
    job = TrainingJob(
        entry_point="train.py",
        job_name=name,
        cluster=Cluster.parse(given["cluster"]),
        channels=[
            Channel(
                channel_name=channel, source=f"s3://data/{channel}", instance_group_names=groups
            )
            for channel, groups in given["channels"]
        ],
        hyperparameters={"lr": 0.1, "model": "resnet"},
        environment={"NCCL_DEBUG": "INFO"},
        max_runtime_s=3600,
    )
    settings = SageMakerSettings(
        role_arn="arn:aws:iam::123456789012:role/SageMakerRole",
        image_uri="123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
        s3_uri="s3://the-bucket/lab",
        tags={"team": "vision"},
        **given["settings"],
    )
    return training_request(job, settings)


def fields(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield each field with its path; members of lists go by their names, not their places."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            name = next(inner[key] for key in NAMES if key in inner)
            yield from fields(inner, f"{path}.{name}")
    else:
        yield path, value


NAMES = ("ChannelName", "InstanceGroupName", "Key", "Name")


def belongs_to(path: str, field: str) -> bool:
    return path == field or path.startswith(f"{field}.")


@pytest.mark.parametrize("name", JOBS)
def test_our_request_equals_the_sdks_field_by_field_but_for_the_named_ones(name: str) -> None:
    theirs = dict(fields(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))))
    own = dict(fields(ours(name)))

    differing = {
        path: (own.get(path), theirs.get(path))
        for path in own.keys() | theirs.keys()
        if own.get(path) != theirs.get(path)
    }

    unexplained = {
        path: values
        for path, values in differing.items()
        if not any(belongs_to(path, field) for field in DIFFERENCES)
    }
    assert unexplained == {}


@pytest.mark.parametrize("name", JOBS)
def test_what_the_sdk_sends_is_legal_here(name: str) -> None:
    request = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))

    assert request_problems(request) == []


def test_every_difference_that_is_named_is_one() -> None:
    differing = set()
    for name in JOBS:
        theirs = dict(fields(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))))
        own = dict(fields(ours(name)))
        differing |= {p for p in own.keys() | theirs.keys() if own.get(p) != theirs.get(p)}

    assert all(any(belongs_to(path, field) for path in differing) for field in DIFFERENCES)
