"""Settings of an account that does not exist, and the fake that stands in for AWS."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.on_sagemaker.settings import ENVIRONMENT, SageMakerSettings
from tests.kit.launch_sites.sagemaker import SageMakerSite
from tests.kit.runs import stopped_at_the_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run

ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
    "region": "us-east-1",
}
SECRET_KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"  # noqa: S105  opens nothing


@pytest.fixture(autouse=True)
def _no_account_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine knows of AWS stays out of the tests."""
    for variable in [*ENVIRONMENT.values(), "AWS_PROFILE", "AWS_SESSION_TOKEN"]:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)


@pytest.fixture
def settings() -> SageMakerSettings:
    return SageMakerSettings(**ACCOUNT)


@pytest.fixture(scope="package")
def fake_address() -> Iterator[str]:
    """Address of the fake, a process of its own; it ends with its standard input."""
    program = [sys.executable, "-m", "tests.kit.fake_sagemaker"]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


@pytest.fixture
def fake(fake_address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let boto3 find the fake instead of AWS; return its address."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", fake_address)
    return fake_address


@pytest.fixture(scope="module")
def site() -> Iterator[SageMakerSite]:
    """Stand in for SageMaker while a file of tests runs."""
    with SageMakerSite.opened() as opened:
        yield opened


@pytest.fixture
def start(site: SageMakerSite, root: Path) -> Iterator[Callable[..., Run]]:
    """Start a run there, by a launcher of its own or another one; it ends with the test."""
    with stopped_at_the_end() as launch:
        yield lambda job, launcher=None: launch(launcher or site.launcher(root), job)
