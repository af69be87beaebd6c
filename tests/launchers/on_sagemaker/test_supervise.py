"""Following a training job through the bad days of its service, which is scripted here."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from smtc_lab.launchers.on_sagemaker import supervise
from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import OUTLIVES_SUPERVISOR, RunState, read_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

    Follow = Callable[..., RunState]

BY_USER = Outcome(state="Stopped", reason="The run was stopped by its user.")
BEGUN = dt.datetime(2026, 11, 22, 6, 0, tzinfo=dt.UTC)
ENDED = dt.datetime(2026, 11, 22, 6, 10, tzinfo=dt.UTC)


def answer(status: str, **more: Any) -> dict[str, Any]:
    limits = {"MaxRuntimeInSeconds": 3600}
    return {
        "TrainingJobStatus": status,
        "SecondaryStatus": status,
        "StoppingCondition": limits,
        **more,
    }


def refusal(code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "DescribeTrainingJob")


class Service:
    """SageMaker, S3 and CloudWatch; an exception among the answers is raised."""

    def __init__(self, answers: list[Any], stops: list[Any]) -> None:
        self._answers = answers
        self._stops = stops
        self.num_stops = 0

    def describe_training_job(self, **_: Any) -> Any:
        return raised(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])

    def stop_training_job(self, **_: Any) -> None:
        self.num_stops += 1
        raised(self._stops.pop(0) if self._stops else None)

    def delete_object(self, **_: Any) -> None:
        pass

    def get_paginator(self, _: str) -> Service:
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        return [{"logStreams": [], "Contents": []}]


class Interrupts:
    """What ends the run from outside: nothing, or a person at the first look."""

    def __init__(self, outcome: Outcome | None) -> None:
        self._outcome = outcome

    def wait(self, timeout_s: float) -> Outcome | None:
        del timeout_s
        return self._outcome


def raised(item: Any) -> Any:
    if isinstance(item, Exception):
        raise item
    return item


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder.create(tmp_path, "train-1")
    folder.secret_file.write_bytes(b"s" * 32)
    return folder


@pytest.fixture
def follow(
    folder: RunFolder, settings: SageMakerSettings, monkeypatch: pytest.MonkeyPatch
) -> Follow:
    monkeypatch.setattr(supervise, "_LONGEST_PAUSE_S", 0.02)
    request = {
        "CheckpointConfig": {"S3Uri": "s3://the-bucket/kept"},
        "EnableManagedSpotTraining": True,
    }
    plan = {
        "instances": [{"host": "algo-1", "role": "train", "instance_group_name": "dnn"}],
        "facts": {"worst_case_usd": 1.0, "sagemaker": {"request": request}},
    }
    quick = settings.model_copy(update={"poll_s": 0.01})

    def run(
        *answers: Any, outside: Outcome | None = None, stops: list[Any] | None = None
    ) -> RunState:
        service = Service(list(answers), stops or [])
        monkeypatch.setattr(supervise, "client", lambda *_: service)
        supervise._Follower(folder, plan, quick, Interrupts(outside)).run()
        return read_state(folder)

    return run


def messages(folder: RunFolder) -> list[str]:
    events, _ = read_records(folder.records / "run.sqlite", EventRecord)
    return [event.message for event in events]


def test_a_service_that_cannot_be_reached_for_a_while_ends_nothing(
    follow: Follow, folder: RunFolder
) -> None:
    state = follow(
        refusal("ThrottlingException"),
        refusal("ThrottlingException", "no, request 17"),
        EndpointConnectionError(endpoint_url="https://sagemaker"),
        refusal("ExpiredTokenException"),
        answer("InProgress"),
        answer("Completed"),
    )

    assert state.state == "Completed"
    said = "\n".join(messages(folder))
    assert said.count("ThrottlingException") == 1
    assert "EndpointConnectionError" in said
    assert "aws sso login" in said


def test_a_run_has_the_times_that_are_paid_for(follow: Follow) -> None:
    times = {"TrainingStartTime": BEGUN, "TrainingEndTime": ENDED}

    state = follow(answer("Completed", BillableTimeInSeconds=600, **times))

    assert (state.started_s, state.ended_s) == (BEGUN.timestamp(), ENDED.timestamp())
    assert state.facts["billable_s"] == 600
    assert state.facts["worst_case_usd"] == 1.0
    assert state.facts[OUTLIVES_SUPERVISOR] is True


def test_the_end_is_told_in_the_words_of_sagemakers_sdk(
    follow: Follow, folder: RunFolder
) -> None:
    follow(answer("Completed", TrainingTimeInSeconds=500, BillableTimeInSeconds=100))

    (said,) = [message for message in messages(folder) if "seconds" in message]
    assert said == (
        "Training seconds: 500. Billable seconds: 100. Managed Spot Training savings: 80.0%."
    )


def test_each_interruption_is_an_event_once_also_where_it_was_missed(
    follow: Follow, folder: RunFolder
) -> None:
    def changes(*statuses: str) -> list[dict[str, Any]]:
        return [{"Status": one, "StartTime": BEGUN} for one in statuses]

    begun = changes("Starting", "Training")
    again = changes("Starting", "Training", "Interrupted", "Starting", "Training")
    for _ in range(2):
        follow(
            answer("InProgress", SecondaryStatus="Training", SecondaryStatusTransitions=begun),
            answer("InProgress", SecondaryStatus="Training", SecondaryStatusTransitions=again),
            answer("Completed", SecondaryStatusTransitions=[*again, *changes("Completed")]),
        )

    assert [one for one in messages(folder) if "was interrupted" in one] == [
        "Attempt 1 was interrupted. SageMaker took the spot instances away."
    ]


def test_a_stop_that_was_refused_is_asked_for_again(follow: Follow) -> None:
    refused = [refusal("ThrottlingException"), refusal("ThrottlingException")]
    waiting = [answer("InProgress")] * 8

    state = follow(*waiting, answer("Stopped"), outside=BY_USER, stops=refused)

    assert state.state == "Stopped"
    assert state.reason == BY_USER.reason
    assert refused == []


def test_a_job_that_the_service_does_not_know_is_a_failure_in_the_end(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "_MISSING_LIMIT_S", 0.05)

    state = follow(refusal("ValidationException", "Could not find training job 'train-1'."))

    assert state.state == "Failed"
    assert "knows no training job 'train-1'" in state.reason


def test_a_job_that_is_known_only_after_a_moment_is_followed(follow: Follow) -> None:
    unknown = refusal("ValidationException", "Could not find training job 'train-1'.")

    assert follow(unknown, unknown, answer("Completed")).state == "Completed"


def test_every_step_of_the_service_is_an_event(follow: Follow, folder: RunFolder) -> None:
    follow(
        answer("InProgress", SecondaryStatus="Starting"),
        answer("InProgress", SecondaryStatus="Starting"),
        answer("InProgress", SecondaryStatus="Downloading"),
        answer("Failed", FailureReason="CapacityError: none left"),
    )

    said = messages(folder)
    assert said.count("SageMaker: Starting") == 1
    assert "SageMaker: Downloading" in said
    assert said[-1] == "Failed. SageMaker ended the job: CapacityError: none left."
