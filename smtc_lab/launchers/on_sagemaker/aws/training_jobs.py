"""Training jobs at the service: found by name, created once, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_sagemaker.aws.clients import AwsError, aws_errors
from smtc_lab.launchers.on_sagemaker.aws.request import TAG_REQUEST

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDED = frozenset({"Completed", "Failed", "Stopped"})
"""Values of ``TrainingJobStatus`` that a job does not leave."""


class TrainingJobs:
    """The training jobs of one account and region.

    Args:
        sagemaker: A client of boto3.
    """

    def __init__(self, sagemaker: Any) -> None:  # noqa: ANN401  boto3 makes its classes as it runs
        self._sagemaker = sagemaker

    def find(self, name: str) -> dict[str, Any] | None:
        """Return what the service says of a job; None: there is none of that name.

        Raises:
            LauncherError: AWS refused to say it, or cannot be reached.
        """
        try:
            with aws_errors(f"describe the training job {name!r}"):
                found: dict[str, Any] = self._sagemaker.describe_training_job(
                    TrainingJobName=name
                )
        except AwsError as error:
            if _means_missing(error):
                return None
            raise
        return found

    def has(self, request: Mapping[str, Any]) -> bool:
        """Return whether the job of a request was created before, with the same request.

        Raises:
            LauncherError: There is a job of that name, and it is of another request.
        """
        name = request["TrainingJobName"]
        found = self.find(name)
        if found is None:
            return False
        with aws_errors(f"read the tags of the training job {name!r}"):
            tags = self._sagemaker.list_tags(ResourceArn=found["TrainingJobArn"])["Tags"]
        if _digest(tags) != _digest(request["Tags"]):
            raise LauncherError(
                f"There is a training job named {name!r} already ({found['TrainingJobArn']}), "
                "and it is another one. SageMaker keeps names: choose another job_name."
            )
        return True

    def create(self, request: Mapping[str, Any]) -> None:
        """Create a training job. When the answer was lost, look whether it is there.

        Raises:
            LauncherError: AWS refused it, or cannot be reached; there is no such job.
        """
        name = request["TrainingJobName"]
        try:
            with aws_errors(f"create the training job {name!r}"):
                self._sagemaker.create_training_job(**request)
        except AwsError as error:
            if error.was_answered and error.code != "ResourceInUse":
                raise
            try:
                is_there = self.has(request)
            except AwsError:
                raise LauncherError(
                    f"{error} Whether the job was created is not known: run 'smtc-lab runs "
                    "sweep --on sagemaker' once AWS can be reached."
                ) from None
            if not is_there:
                raise

    def stop(self, name: str) -> None:
        """Ask the service to stop a job; one that has ended stays as it is.

        Raises:
            LauncherError: AWS refused it, or cannot be reached.
        """
        try:
            with aws_errors(f"stop the training job {name!r}"):
                self._sagemaker.stop_training_job(TrainingJobName=name)
        except AwsError as error:
            found = None if _means_missing(error) else self.find(name)
            if found is not None and found["TrainingJobStatus"] not in {*ENDED, "Stopping"}:
                raise


def _means_missing(error: AwsError) -> bool:
    return error.code in {"ValidationException", "ResourceNotFound"} and (
        "not found" in str(error).lower() or "could not find" in str(error).lower()
    )


def _digest(tags: list[Mapping[str, str]]) -> str | None:
    return next((tag["Value"] for tag in tags if tag["Key"] == TAG_REQUEST), None)
