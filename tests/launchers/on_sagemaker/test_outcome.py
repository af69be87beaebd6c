"""How a training job ended, from what SageMaker and its instances say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from smtc_lab.launchers.on_sagemaker.outcome import (
    attempts_told,
    job_outcome,
    trainers_are_done,
)
from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.metrics.records.attempts import waited_s

ROLES = {"algo-1": "train", "algo-2": "train", "algo-3": "data"}
GROUPS = {"algo-1": "dnn", "algo-2": "dnn", "algo-3": "data"}
BY_USER = Outcome(state="Stopped", reason="The run was stopped by its user.")


def said(exit_code: int, time_s: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"exit_code": exit_code, "time_s": time_s, "rows": {}, **more}


def outcome(
    status: str,
    secondary: str | None = None,
    *,
    exits: dict[str, dict[str, Any]] | None = None,
    wanted: Outcome | None = None,
    **found: Any,
) -> Outcome | None:
    return job_outcome(
        {
            "TrainingJobStatus": status,
            "SecondaryStatus": secondary or status,
            "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 90},
            **found,
        },
        exits or {},
        roles=ROLES,
        groups=GROUPS,
        wanted=wanted,
    )


@pytest.mark.parametrize("status", ["InProgress", "Stopping"])
def test_a_job_has_not_ended_before_sagemaker_says_so(status: str) -> None:
    exits = {host: said(0) for host in ROLES}

    assert outcome(status, exits=exits) is None
    assert outcome(status, wanted=BY_USER) is None


def test_a_completed_job_is_complete_without_a_reason() -> None:
    assert outcome("Completed") == Outcome(state="Completed", reason="")


def test_a_failed_job_names_the_instance_that_failed_first() -> None:
    exits = {
        "algo-1": said(143, 2.0, signal=15, asked_to_stop=True),
        "algo-2": said(1, 3.0),
        "algo-3": said(3, 2.5),
    }

    ended = outcome("Failed", exits=exits, FailureReason="AlgorithmError: , exit code: 3")

    assert ended is not None
    assert ended.reason == "The entry point on algo-3 (data) exited with code 3."
    assert ended.host == "algo-3"


def test_a_job_that_failed_before_any_instance_says_what_sagemaker_says() -> None:
    ended = outcome("Failed", FailureReason="CapacityError: no ml.p4d.24xlarge.")

    assert ended is not None
    assert ended.reason == "SageMaker ended the job: CapacityError: no ml.p4d.24xlarge."


def test_a_job_that_took_too_long_says_so() -> None:
    ended = outcome("Stopped", "MaxRuntimeExceeded")

    assert ended is not None
    assert ended.state == "Stopped"
    assert "MaxRuntimeExceeded: the run took longer than max_runtime_s=60" in ended.reason


def test_a_spot_job_that_waited_too_long_says_so() -> None:
    ended = outcome("Stopped", "MaxWaitTimeExceeded")

    assert ended is not None
    assert "max_wait=90 s" in ended.reason


def test_a_job_that_was_stopped_from_here_keeps_the_reason() -> None:
    assert outcome("Stopped", wanted=BY_USER) == BY_USER


def test_a_job_that_completed_while_it_was_being_stopped_is_complete() -> None:
    ended = outcome("Completed", wanted=BY_USER)

    assert ended is not None
    assert ended.state == "Completed"


def test_a_job_that_somebody_else_stopped_says_so() -> None:
    ended = outcome("Stopped")

    assert ended is not None
    assert "stopped at SageMaker, and not by this run" in ended.reason


@pytest.mark.parametrize(
    ("exits", "done"),
    [
        ({}, False),
        ({"algo-1": said(0)}, False),
        ({"algo-1": said(0), "algo-2": said(0)}, True),
        ({"algo-1": said(0), "algo-2": said(1)}, False),
        ({"algo-1": said(0), "algo-2": said(0, asked_to_stop=True)}, False),
    ],
)
def test_trainers_are_done_when_all_of_them_ended_well(
    exits: dict[str, dict[str, Any]], *, done: bool
) -> None:
    assert trainers_are_done(exits, ROLES) is done


def test_attempts_are_those_that_secondary_states_tell() -> None:
    def change(status: str, at_s: float) -> dict[str, object]:
        return {"Status": status, "StartTime": datetime.fromtimestamp(at_s, UTC)}

    changes = [
        change("Starting", 10),
        change("Downloading", 20),
        change("Training", 30),
        change("Interrupted", 50),
        change("Starting", 90),
        change("Training", 95),
        change("Restarting", 100),
        change("Downloading", 102),
        change("Completed", 120),
    ]
    found = attempts_told({"SecondaryStatusTransitions": changes})

    times = [(one.started_s, one.ended_s) for one in found]
    assert times == [(10, 50), (90, 100), (102, 120)]
    assert [one.interrupted_by for one in found] == [
        "SageMaker took the spot instances away.",
        "SageMaker started the job again.",
        "",
    ]
    assert waited_s(found) == 42
    assert attempts_told({}) == ()
