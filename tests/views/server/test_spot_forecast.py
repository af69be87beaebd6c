"""What a job of a form would be on spot instances, asked of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import find_runs
from smtc_lab.views.code.set_ups import first_jobs
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.kit.real_runs import CopyComparison

    Ask = Callable[..., Awaitable[tuple[int, Any]]]

TYPES = {"ml.p3.2xlarge": 1.3, "ml.c5.9xlarge": 0.5}


def question(**fields: object) -> dict[str, object]:
    job = first_jobs()[1].model_dump(mode="json")
    return {
        "asked": "q-1",
        "job": job,
        "mean_time_between_s": 7200,
        "spot_usd_per_hour": TYPES,
        **fields,
    }


async def test_the_newest_run_of_a_job_tells_its_times(
    ask: Ask, root: Path, ended_comparison: CopyComparison
) -> None:
    ended_comparison(root=root)
    newest = read_job(find_runs(root)[-1])
    job = newest.model_dump(mode="json")

    status, told = await ask("spot-forecast", body=question(job=job, save_s=0.1))

    assert status == 200, told
    assert told["problem"] == ""
    assert told["asked"] == "q-1"
    assert str(newest.job_name) in told["about"][0]
    assert [each["policy"] for each in told["policies"]] == ["on-demand", "spot only"]
    assert [each["use_spot_instances"] for each in told["policies"]] == [False, True]
    assert all(each["usd"]["evidence"] == "predicted" for each in told["policies"])


async def test_a_job_that_was_only_calibrated_has_the_times_that_are_predicted(
    ask: Ask, root: Path
) -> None:
    job = first_jobs()[0]
    keep_calibration(job, root)

    _, told = await ask(
        "spot-forecast", body=question(job=job.model_dump(mode="json"), save_s=0.1)
    )

    assert told["problem"] == ""
    assert "predicted from its calibration" in told["about"][0]


async def test_times_that_are_entered_count_with_the_prices_of_all_groups(ask: Ask) -> None:
    entered = {"work_s": 80_000, "save_s": 20, "restart_s": 100, "deadline_s": 90_000}

    _, told = await ask("spot-forecast", body=question(**entered))

    on_demand, spot, *others = told["policies"]
    assert told["problem"] == ""
    assert "Spot $1.8 an hour" in told["about"][2]
    assert spot["usd"]["mean"] < on_demand["usd"]["mean"] / 2
    assert spot["save_every_s"] > 20
    assert [each["use_spot_instances"] for each in others] == [None, None]
    assert told["best"] in {each["policy"] for each in told["policies"]}


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({}, "No run of"),
        ({"work_s": 9, "restart_s": 9}, "save_s is not given"),
        ({"work_s": 9, "restart_s": 9, "save_s": 1, "mean_time_between_s": None}, "mean_time_"),
        ({"work_s": "x"}, "SpotQuestion.work_s='x' must be a number"),
        ({"job": {"entry_point": 3}}, "Mend what is wrong"),
    ],
)
async def test_where_nothing_can_be_told_the_answer_says_why(
    ask: Ask, fields: dict[str, object], what: str
) -> None:
    status, told = await ask("spot-forecast", body=question(**fields))

    assert (status, told["asked"], told["policies"]) == (200, "q-1", [])
    assert what in told["problem"]


@pytest.mark.parametrize("body", [{}, {"job": 3}, []])
async def test_what_asks_nothing_is_refused_with_what_to_do(ask: Ask, body: Any) -> None:
    status, answer = await ask("spot-forecast", body=body)

    assert status == 400
    assert "Send a SpotQuestion" in answer["message"]
