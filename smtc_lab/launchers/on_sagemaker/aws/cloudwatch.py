"""The log streams of a training job in CloudWatch, read as they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.on_sagemaker.aws.clients import AwsError, aws_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
"""Where SageMaker writes the logs of training jobs."""


class LogStreams:
    """The streams of one job: one for each container that was started, ``<job>/<host>-<time>``.

    Args:
        logs: A client of boto3.
        job_name: Name of the training job.
    """

    def __init__(self, logs: Any, job_name: str) -> None:  # noqa: ANN401  boto3 makes its classes as it runs
        self._logs = logs
        self._job_name = job_name
        self._tokens: dict[str, str] = {}

    def look(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each stream's name, and the lines that it has gained, oldest stream first.

        What was yielded is not yielded again.

        Raises:
            LauncherError: AWS refused it, or cannot be reached. What was not yielded comes with
                the next call.
        """
        for name in self._names():
            while True:
                lines, token = self._page(name)
                repeats = token == self._tokens.get(name)
                if lines:
                    yield name, lines
                self._tokens[name] = token
                if repeats:  # the end: a page may be empty though more follow
                    break

    def _names(self) -> list[str]:
        names: list[str] = []
        try:
            with aws_errors(f"list the logs of the training job {self._job_name!r}"):
                pages = self._logs.get_paginator("describe_log_streams").paginate(
                    logGroupName=LOG_GROUP, logStreamNamePrefix=f"{self._job_name}/"
                )
                for page in pages:
                    names += [stream["logStreamName"] for stream in page["logStreams"]]
        except AwsError as error:
            if error.code != "ResourceNotFoundException":  # the account's first job
                raise
        return sorted(names, key=lambda name: (name.rpartition("-")[2].zfill(20), name))

    def _page(self, name: str) -> tuple[list[str], str]:
        token = {"nextToken": self._tokens[name]} if name in self._tokens else {}
        with aws_errors(f"read the log {name!r}"):
            page = self._logs.get_log_events(
                logGroupName=LOG_GROUP, logStreamName=name, startFromHead=True, **token
            )
        lines = [
            line for event in page["events"] for line in event["message"].splitlines() or [""]
        ]
        return lines, page["nextForwardToken"]
