"""What a job's instances have left in S3, through their checkpoint folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.on_sagemaker.aws.clients import aws_errors

if TYPE_CHECKING:
    from smtc_lab.launchers.on_sagemaker.mirror import JobMirror
    from smtc_lab.store.run_folder import RunFolder

_LEFT = re.compile(
    r"(?P<host>algo-[0-9]+)/(?P<what>records|compiler)/"
    r"(?P<file>algo-[0-9]+-[a-z]+[0-9]*\.[0-9]+\.lines|report-rank[0-9]+\.json)"
)
"""Files of ours below the folder of a job. What else may lie there is nothing of ours."""


def fetch_leftovers(
    folder: RunFolder,
    mirror: JobMirror,
    checkpoint_uri: str,
    s3: Any,  # noqa: ANN401  boto3 makes its classes as it runs
) -> None:
    """Fetch compiler reports, and the records of instances whose log does not hold them all.

    Args:
        folder: The run's folder.
        mirror: What has come of its log.
        checkpoint_uri: Where SageMaker keeps the instances' checkpoint folders.
        s3: A client of boto3.

    Raises:
        LauncherError: AWS refused it, or cannot be reached.
        StoreError: The run folder cannot be written.
    """
    name = folder.job_name
    uri = "/".join((checkpoint_uri.rstrip("/"), "smtc_lab", name, ""))
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    with aws_errors(f"fetch what the instances of job {name!r} have left in {uri!r}"):
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = sorted(item["Key"] for page in pages for item in page.get("Contents", ()))
        left = [(key, _LEFT.fullmatch(key.removeprefix(prefix))) for key in keys]
        ours = [(key, match["host"], match["file"]) for key, match in left if match]
        incomplete = {host for _, host, _ in ours if mirror.is_missing_rows(host)}
        for key, host, file in ours:
            if file.endswith(".json"):
                target = folder.compiler_folder(host)
                target.mkdir(parents=True, exist_ok=True)
                (target / file).write_bytes(_read(s3, bucket, key))
            elif host in incomplete:
                mirror.take_file(host, file, _read(s3, bucket, key))


def _read(s3: Any, bucket: str, key: str) -> bytes:  # noqa: ANN401  boto3 makes its classes as it runs
    body: bytes = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    return body
