"""A stand-in for SageMaker on this machine, with real HTTP and real containers' processes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from tests.kit.launch_sites.site import pid_of_agent
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run

BUCKET = "smtc-lab-tests"
REGION = "us-east-1"
POLL_S = 0.2
LINGER_S = 10.0


class SageMakerSite:
    """The SageMaker launcher, on a server of our own that passes for AWS."""

    name: ClassVar[str] = "sagemaker"

    def __init__(self, address: str) -> None:
        self.address = address

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        """Start the server; end it with every container."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.fake_sagemaker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None  # noqa: S101  it is a pipe
        before = dict(os.environ)
        try:
            site = cls.joined(process.stdout.readline().strip())
            client("s3", REGION).create_bucket(Bucket=BUCKET)
            yield site
        finally:
            os.environ.clear()
            os.environ.update(before)
            process.communicate()

    @classmethod
    def joined(cls, address: str) -> Self:
        """Let this process take the server for AWS."""
        os.environ.update(
            {
                "AWS_ENDPOINT_URL": address,
                "AWS_ACCESS_KEY_ID": "nobody",
                "AWS_SECRET_ACCESS_KEY": "nothing",
                "AWS_DEFAULT_REGION": REGION,
            }
        )
        return cls(address)

    def options(self) -> dict[str, Any]:
        """Return the options of a launcher that looks at its jobs five times a second."""
        return {
            "confirm": True,
            "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
            "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/fake:latest",
            "s3_uri": f"s3://{BUCKET}/smtc-lab",
            "region": REGION,
            "poll_s": POLL_S,
            "linger_s": LINGER_S,
        }

    def launcher(self, root: Path) -> SageMakerLauncher:
        """Return a launcher whose runs lie in a folder."""
        return SageMakerLauncher(root=root, **self.options())

    def pid(self, run: Run, what: Literal["script", "agent"], *, host: str) -> int:
        """Return a process of an instance of a run."""
        wait_until(lambda: host in _platform_hosts(run), what=f"the begin of {host}")
        return pid_of_agent(run.job_name, what, host=_platform_hosts(run)[host])


def _platform_hosts(run: Run) -> dict[str, str]:
    return cast("dict[str, str]", run.state.facts.get("platform_hosts", {}))
