from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.launchers.engines import ENGINES
from smtc_lab.machine.installed import loaded
from smtc_lab.metrics.records.attempts import Attempt
from smtc_lab.spec.spot import Market
from smtc_lab.store.state import read_state, write_state
from smtc_lab.views.run.describer import RunDescriber
from smtc_lab.views.run.listed import ListedRun
from smtc_lab.views.run_list import run_rows, runs_text
from tests.kit.records import STARTED_S, run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.run.info import RunInfo

TAKEN = "The market took the instances away."


def interrupted(root: Path, *attempts: Attempt, **state: Any) -> RunFolder:
    """A run of 20 s and ten steps, with these attempts."""
    run = run_records([1.0] * 10, startup_s=2.0, state="InProgress")
    job = run.job.model_copy(update={"use_spot_instances": True, "market": Market()})
    folder = write_run_folder(root, replace(run, job=job))
    write_state(folder, replace(read_state(folder), attempts=attempts, **state))
    return folder


def describe(folder: RunFolder) -> RunInfo:
    follower = RunFollower(folder, Stream(lambda _content, _buffers: None))
    follower.look()
    describer = RunDescriber(follower)
    describer.look(last=True)
    return describer.describe()


def test_a_run_that_waits_is_called_interrupted_and_says_why(tmp_path: Path) -> None:
    gone = Attempt(started_s=STARTED_S, ended_s=STARTED_S + 13, interrupted_by=TAKEN)
    folder = interrupted(tmp_path, gone, secondary="Interrupted")

    info = describe(folder)

    assert (info.state, info.word) == ("InProgress", "Interrupted")
    assert (info.reason, info.attempts, info.can_interrupt) == (TAKEN, 1, True)
    assert info.billed_s == pytest.approx(13.0, abs=0.01)
    [told] = info.interruptions
    assert (told.from_s, told.gone_s, told.back_s) == (12.0, 13.0, None)
    assert (told.waited_s, told.lost_s, told.reason) == (0.0, 1.0, TAKEN)
    row = ListedRun(folder.path)
    row.look({})
    assert row.row["secondary"] == "Interrupted"
    assert "Interrupted" in runs_text(run_rows(tmp_path, last=1), root=tmp_path, begin_with="")


def test_an_interruption_has_its_moments_its_step_and_its_price(tmp_path: Path) -> None:
    # steps end 3, 4, … 12 s behind the start
    attempts = (
        Attempt(started_s=STARTED_S, ended_s=STARTED_S + 5.25, interrupted_by=TAKEN),
        Attempt(started_s=STARTED_S + 5.75, ended_s=STARTED_S + 20),
    )
    folder = interrupted(
        tmp_path, *attempts, state="Completed", ended_s=STARTED_S + 20, secondary=""
    )

    info = describe(folder)

    [told] = info.interruptions
    assert (told.from_s, told.gone_s, told.back_s, told.until_s) == pytest.approx(
        (5.0, 5.25, 5.75, 5.75)
    )
    assert (told.step, told.waited_s, told.lost_s) == pytest.approx((3, 0.5, 0.25))
    assert told.lost_usd == pytest.approx(0.25 * 3.6 / 3600)
    assert info.spot is not None
    assert (info.spot.training_s, info.spot.billable_s) == pytest.approx((20.0, 19.5))
    assert info.spot.savings_fraction == pytest.approx(0.025)
    assert info.spot.told_by == "run"


def test_savings_are_what_the_platform_bills_by_where_it_tells(tmp_path: Path) -> None:
    folder = interrupted(
        tmp_path,
        Attempt(started_s=STARTED_S, ended_s=STARTED_S + 20),
        state="Completed",
        ended_s=STARTED_S + 20,
        facts={"training_s": 500, "billable_s": 100},
    )

    spot = describe(folder).spot

    assert spot is not None
    assert spot.savings_fraction == pytest.approx(0.8)
    assert spot.told_by == "platform"


def test_a_job_on_demand_has_no_savings(tmp_path: Path) -> None:
    info = describe(write_run_folder(tmp_path, run_records([0.2] * 5)))

    assert info.spot is None
    assert info.interruptions == ()


@pytest.mark.parametrize("name", ["local", "sagemaker"])
def test_an_engine_takes_instances_where_its_launcher_does(name: str) -> None:
    engine = ENGINES[name]

    assert engine.takes_instances == loaded(engine.launcher).takes_instances
