"""S3 and CloudWatch as the fake's platform uses them: through their HTTP interfaces."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
"""Where SageMaker writes the logs of training jobs."""


class Storage:
    """The platform's own access to the account's S3 and CloudWatch."""

    def __init__(self, endpoint: str, region: str) -> None:
        import boto3

        self._s3 = boto3.client("s3", endpoint_url=endpoint, region_name=region, **_KEYS)
        self._logs = boto3.client("logs", endpoint_url=endpoint, region_name=region, **_KEYS)

    def download(self, uri: str, folder: Path) -> None:
        """Copy the objects of a prefix into a folder."""
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        folder.mkdir(parents=True, exist_ok=True)
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        for page in pages:
            for item in page.get("Contents", ()):
                inner = item["Key"][len(prefix.rpartition("/")[0]) :].lstrip("/")
                path = folder / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                self._s3.download_file(bucket, item["Key"], str(path))

    def sync(self, folder: Path, uri: str, known: dict[Path, tuple[int, int]]) -> None:
        """Copy what is new in a folder to a prefix, and delete there what is gone here.

        Args:
            folder: The folder; links in it are not followed.
            uri: The prefix.
            known: Time and size of each file as it was copied before; brought up to date.
        """
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        found = stamps(folder)
        for path in sorted(found.keys() | known.keys()):
            key = "/".join(filter(None, [prefix.strip("/"), str(path.relative_to(folder))]))
            if path not in found:
                self._s3.delete_object(Bucket=bucket, Key=key)
            elif found[path] != known.get(path):
                with contextlib.suppress(FileNotFoundError):
                    self._s3.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
        known.clear()
        known.update(found)

    def put(self, uri: str, data: bytes) -> None:
        """Write an object."""
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        self._s3.put_object(Bucket=bucket, Key=key, Body=data)

    def open_stream(self, name: str) -> None:
        """Make a log stream."""
        with contextlib.suppress(self._logs.exceptions.ResourceAlreadyExistsException):
            self._logs.create_log_group(logGroupName=LOG_GROUP)
        self._logs.create_log_stream(logGroupName=LOG_GROUP, logStreamName=name)

    def log(self, stream: str, lines: Sequence[str]) -> None:
        """Add lines to a stream. As in CloudWatch, a line without a character is no event."""
        now_ms = int(time.time() * 1000)
        events: list[dict[str, Any]] = [
            {"timestamp": now_ms, "message": line} for line in lines if line
        ]
        if events:
            self._logs.put_log_events(
                logGroupName=LOG_GROUP, logStreamName=stream, logEvents=events
            )


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return time and size of each file below a folder."""
    found = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                found[path] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


_KEYS = {"aws_access_key_id": "platform", "aws_secret_access_key": "platform"}
"""moto takes any."""
