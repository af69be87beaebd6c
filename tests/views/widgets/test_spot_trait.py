"""What a job would be on spot instances, as a workbench tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_workbench_sends_the_part_about_interruptions_and_answers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    workbench = Workbench()
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(workbench, "send", sent.append)
    assert workbench.spot_answer["asked"] == ""
    question = {
        "asked": "q-1",
        "job": {**workbench.value[0], "market": {"mean_time_between_s": 3600.0}},
        "work_s": 7200.0,
        "save_s": 1.0,
        "restart_s": 60.0,
        "spot_usd_per_hour": {"ml.p3.2xlarge": 1.0},
    }
    question["job"]["use_spot_instances"] = True

    workbench._handle_custom_msg({"type": "spot-part"}, [])
    workbench._handle_custom_msg({"type": "spot-forecast", "question": question}, [])

    wait_until(lambda: workbench.spot_answer["asked"] == "q-1", what="the answer")
    assert "spotSection" in sent[0]["module"]
    assert workbench.spot_answer["problem"] == ""
    assert [each["policy"] for each in workbench.spot_answer["policies"]] == [
        "on-demand",
        "spot only",
    ]
    workbench.close()


def test_a_job_with_interruptions_is_kept_and_written_as_code() -> None:
    workbench = Workbench()
    spot = {
        "use_spot_instances": True,
        "max_wait": 90_000.0,
        "resume": "automatic",
        "market": {"mean_time_between_s": 600.0},
    }
    workbench.value = [{**each, **spot} for each in workbench.value]

    market = workbench.jobs[0].market
    assert market is not None
    assert market.mean_time_between_s == 600.0
    assert "market=lab.Market(mean_time_between_s=600.0)" in workbench.code
    assert 'resume="automatic"' in workbench.code
    workbench.value = [{**each, "max_wait": 5.0} for each in workbench.value]
    assert "Invalid MaxWaitTimeInSeconds" in workbench.problems[0][0]
    workbench.close()
