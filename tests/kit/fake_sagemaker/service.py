"""What moto's SageMaker lacks: the request is checked, the job runs, it can be stopped."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import threading
from typing import TYPE_CHECKING, Any

from moto.core.responses import EmptyResult
from moto.sagemaker.exceptions import AWSValidationException, ResourceInUseException
from moto.sagemaker.responses import SageMakerResponse

from smtc_lab.launchers.on_sagemaker.aws.validate import request_problems
from tests.kit.fake_sagemaker.job import FakeJob

if TYPE_CHECKING:
    from pathlib import Path

    from moto.core.responses import ActionResult

    from tests.kit.fake_sagemaker.storage import Storage

_STATUS = {"MaxRuntimeExceeded": "Stopped", "Stopping": "Stopping"}
"""Status of a job in a secondary status; others are their own, or InProgress."""

_ENDS = ("Completed", "Failed", "Stopped")
_LAST = (*_ENDS, "MaxRuntimeExceeded")

_PAID = 0.3
"""Part of its time that a job on spot instances is billed, as if they cost so much less."""

_KEPT = {
    "Environment": "environment",
    "ProfilerConfig": "profiler_config",
    "RetryStrategy": "retry_strategy",
}
"""What moto forgets of a request, and what it calls it."""


class FakeService:
    """The training jobs of the fake.

    Args:
        folder: Where instances' folders are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: dict[str, FakeJob] = {}
        self._threads: list[threading.Thread] = []
        self.storage: Storage | None = None
        """The account's S3 and CloudWatch; there when the server listens."""

    def install(self) -> None:
        """Let moto's server answer with these jobs."""
        create, service = SageMakerResponse.create_training_job, self

        def create_training_job(response: SageMakerResponse) -> ActionResult:
            request = json.loads(response.body)
            jobs = response.sagemaker_backend.training_jobs
            if request.get("TrainingJobName") in jobs:
                raise ResourceInUseException(
                    "Training job names must be unique within an AWS account and region"
                )
            if problems := request_problems(request):
                raise AWSValidationException(
                    f"{len(problems)} validation errors detected: {' '.join(problems)}"
                )
            metrics = request["AlgorithmSpecification"].get("MetricDefinitions", [])
            result = create(response)
            kept = jobs[request["TrainingJobName"]]
            kept.algorithm_specification["MetricDefinitions"] = metrics
            for name, attribute in _KEPT.items():
                if name in request:
                    setattr(kept, attribute, request[name])
            service.start(request, kept)
            return result

        def stop_training_job(response: SageMakerResponse) -> EmptyResult:
            name = response._get_param("TrainingJobName")  # noqa: SLF001  moto's way to read it
            kept = response.sagemaker_backend.training_jobs.get(name)
            if kept is None:
                raise AWSValidationException("Requested resource not found.")
            if kept.training_job_status != "InProgress":
                raise AWSValidationException(
                    "The request was rejected because the training job is in status "
                    f"{kept.training_job_status}."
                )
            _change(kept, "Stopping")
            service.stop(name)
            return EmptyResult()

        answers = {
            "create_training_job": create_training_job,
            "stop_training_job": stop_training_job,
        }
        for name, answer in answers.items():
            setattr(SageMakerResponse, name, answer)

    def start(self, request: dict[str, Any], kept: Any) -> None:  # noqa: ANN401  moto's own class
        """Run a job; what becomes of it is kept in moto's own description of it."""
        assert self.storage is not None  # noqa: S101  a request came, so the server listens
        kept.final_metric_data_list = []
        kept.secondary_status_transitions = []
        kept.training_start_time = kept.training_end_time = None
        _change(kept, "Starting")
        number = len(self._jobs)
        job = FakeJob(
            request,
            folder=self._folder,
            network=f"127.{1 + os.getpid() % 60}.{1 + number % 250}",
            storage=self.storage,
            tell=lambda status: _change(kept, status),
        )
        self._jobs[request["TrainingJobName"]] = job

        def run() -> None:
            try:
                ended = job.run()
            except Exception as error:  # noqa: BLE001  else the job would run for ever
                ended = "Failed"
                job.failure_reason = f"InternalServerError: {error!r}"
            if job.failure_reason:
                kept.failure_reason = job.failure_reason
            _change(kept, ended)
            job.forget()

        thread = threading.Thread(target=run)
        self._threads.append(thread)
        thread.start()

    def stop(self, name: str) -> None:
        """Stop a job."""
        self._jobs[name].stop()

    def close(self) -> None:
        """Stop every job, and wait until nothing is left."""
        for job in self._jobs.values():
            job.stop()
        for thread in self._threads:
            thread.join()


def _change(kept: Any, status: str) -> None:  # noqa: ANN401  moto's own class
    """Note that a job is in another secondary status."""
    if kept.training_job_status == "Stopping" and status not in _LAST:
        return  # it was stopped before it trained
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    transitions = kept.secondary_status_transitions
    if transitions:
        if transitions[-1]["Status"] == status:
            return
        transitions[-1]["EndTime"] = now
    transitions.append({"Status": status, "StartTime": now, "StatusMessage": status})
    if status == "Training":
        kept.training_start_time = kept.training_start_time or now
    if status in _LAST:
        kept.training_end_time = now
        trained_s = sum(
            (each["EndTime"] - each["StartTime"]).total_seconds()
            for each in transitions
            if each["Status"] == "Training"
        )
        kept.training_time_in_seconds = math.ceil(trained_s)
        paid = _PAID if kept.enable_managed_spot_training else 1
        kept.billable_time_in_seconds = math.ceil(paid * trained_s)
    kept.last_modified_time = now
    kept.secondary_status = status
    kept.training_job_status = _STATUS.get(status, status if status in _ENDS else "InProgress")
