"""Writes what the SageMaker Python SDK v2 sends for two jobs. Takes no network and no account.

The SDK is no dependency of this project. To make the files again::

    python3 -m venv sdk
    sdk/bin/pip install 'sagemaker>=2.250,<3' 'setuptools<81'
    sdk/bin/python tests/launchers/on_sagemaker/golden/make_golden.py

Each request is taken where botocore is about to send it, and answered here. The SDK reports its
use to AWS unless told not to, so it is told, and any other connection is refused.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from botocore.awsrequest import AWSResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
NUMBER = r"(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)"
METRICS = [
    *(
        {"Name": name, "Regex": f'"{name}": ?{NUMBER}'}
        for name in ("step_time_s", "data_wait_s", "samples_per_s")
    ),
    *(
        {"Name": name, "Regex": rf"(?:^|[\s,;]){name}={NUMBER}"}
        for name in ("loss", "accuracy", "learning_rate", "tokens_per_s")
    ),
]


class _Body:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


def sent_by_sdk(job_name: str, *, channels: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the CreateTrainingJob request of an estimator's ``fit``."""
    import boto3
    from sagemaker.pytorch import PyTorch
    from sagemaker.session import Session

    sent = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        sent.append(json.loads(request.body))
        body = json.dumps({"TrainingJobArn": f"arn:aws:sagemaker:us-east-1:1:{job_name}"})
        headers = {"Content-Type": "application/x-amz-json-1.1"}
        return AWSResponse(request.url, 200, headers, _Body(body.encode()))

    boto_session = boto3.Session()
    client = boto_session.client("sagemaker")
    client.meta.events.register("before-send.sagemaker.CreateTrainingJob", answer)
    session = Session(boto_session, sagemaker_client=client, default_bucket="the-bucket")
    estimator = PyTorch(
        entry_point="train.py",
        source_dir=f"s3://the-bucket/lab/{job_name}/source/source.tar.gz",
        image_uri="123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
        role="arn:aws:iam::123456789012:role/SageMakerRole",
        sagemaker_session=session,
        hyperparameters={"lr": 0.1, "model": "resnet"},
        environment={"NCCL_DEBUG": "INFO"},
        output_path="s3://the-bucket/lab",
        checkpoint_s3_uri=f"s3://the-bucket/lab/{job_name}/checkpoints",
        volume_size=30,
        max_run=3600,
        max_retry_attempts=1,
        metric_definitions=METRICS,
        debugger_hook_config=False,
        disable_profiler=True,
        tags=[{"Key": "team", "Value": "vision"}],
        **options,
    )
    estimator.fit(channels, job_name=job_name, wait=False)
    (request,) = sent
    return request


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        opt_out = {
            "SchemaVersion": "1.0",
            "SageMaker": {"PythonSDK": {"Modules": {"TelemetryOptOut": True}}},
        }
        config.write_text(json.dumps(opt_out), encoding="utf-8")
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "opens-nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        os.environ["SAGEMAKER_ADMIN_CONFIG_OVERRIDE"] = str(config)
        os.environ["SAGEMAKER_USER_CONFIG_OVERRIDE"] = str(config)
        from sagemaker.inputs import TrainingInput
        from sagemaker.instance_group import InstanceGroup

        def no_network(*arguments: Any, **_: Any) -> None:
            raise AssertionError(f"The SDK wanted to connect to {arguments}.")

        groups = [
            InstanceGroup("dnn_group", "ml.p4d.24xlarge", 1),
            InstanceGroup("data_group", "ml.c5.18xlarge", 2),
        ]
        train = TrainingInput("s3://data/train", instance_groups=["data_group"])
        test = TrainingInput("s3://data/test", instance_groups=["dnn_group", "data_group"])
        with (
            mock.patch.object(socket.socket, "connect", no_network),
            mock.patch.object(socket, "getaddrinfo", no_network),
        ):
            requests = {
                "heterogeneous": sent_by_sdk(
                    "heterogeneous",
                    channels={"train": train, "test": test},
                    instance_groups=groups,
                    use_spot_instances=True,
                    max_wait=7200,
                ),
                "homogeneous": sent_by_sdk(
                    "homogeneous",
                    channels={"train": TrainingInput("s3://data/train")},
                    instance_type="ml.p3.2xlarge",
                    instance_count=2,
                    keep_alive_period_in_seconds=600,
                    subnets=["subnet-1"],
                    security_group_ids=["sg-1"],
                ),
            }
    for name, request in requests.items():
        text = json.dumps(request, indent=1, sort_keys=True)
        HERE.joinpath(f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
