from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.reader import read_run
from smtc_lab.views.run.describer import RunDescriber
from tests.kit.hostile import HOSTILE_TEXTS
from tests.kit.records import HETEROGENEOUS, STARTED_S, jittered, run_records
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.run.info import RunInfo

FIXTURE = Path(__file__).parents[2] / "fixtures" / "run_info.json"
NOBODY = Stream(lambda _content, _buffers: None)


def describe(folder: RunFolder, *, last: bool = True) -> RunInfo:
    follower = RunFollower(folder, NOBODY)
    follower.look()
    describer = RunDescriber(follower)
    describer.look(last=last)
    return describer.describe()


def test_the_fixture_that_the_browser_reads_is_what_python_tells(tmp_path: Path) -> None:
    run = run_records(
        [0.5, *[0.25, 0.2] * 20],
        cluster=HETEROGENEOUS,
        state="Failed",
        device_time_s=0.05,
        emulation=Emulation(time_dilation=20.0, device_step_time_s=0.05),
    )
    run.events.insert(
        0, EventRecord(time_s=STARTED_S + 1, kind="warning", host="algo-2", message="Late.")
    )
    folder = write_run_folder(tmp_path, run, reason="The script exited with 3.")

    told = json.loads(json.dumps(describe(folder).as_dict()))

    wire = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert _rounded(told) == _rounded(wire)


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value


def test_the_numbers_are_those_of_the_metrics(tmp_path: Path) -> None:
    run = run_records([1.0, *jittered(0.2, 80)], device_time_s=0.05)
    folder = write_run_folder(tmp_path, run)

    summary = describe(folder).summary

    measured = summarize(read_run(folder))
    assert summary is not None
    assert summary.steps == measured.steps
    assert summary.warm_up_steps == measured.warm_up_steps
    assert summary.step_time_s.mean == pytest.approx(measured.mean_step_time_s)
    assert summary.data_wait_fraction == pytest.approx(measured.data_wait_fraction)
    assert summary.device_utilization == pytest.approx(measured.device_utilization)
    assert summary.cpu == {"dnn_group": pytest.approx(0.8)}
    assert summary.step_time_s.low < summary.step_time_s.mean < summary.step_time_s.high


def test_no_group_is_busier_than_all_of_its_quota(tmp_path: Path) -> None:
    run = run_records([0.2] * 10, cpu_used_fraction=1.04)

    summary = describe(write_run_folder(tmp_path, run)).summary

    assert summary is not None
    assert summary.cpu == {"dnn_group": 1.0}


def test_cost_is_price_times_time(tmp_path: Path) -> None:
    run = run_records([0.5] * 10, startup_s=2.0, shutdown_s=0.5)

    info = describe(write_run_folder(tmp_path, run, usd_per_hour=3.6))

    assert info.usd_so_far == pytest.approx(3.6 * 7.5 / 3600)
    assert info.bill is not None
    assert info.bill.billed_usd == pytest.approx(info.usd_so_far)
    assert info.bill == summarize(run, usd_per_hour=3.6).bill
    assert info.summary is not None
    assert info.summary.usd_per_1000_steps is not None
    assert info.summary.usd_per_1000_steps.mean == pytest.approx(0.5)


@pytest.mark.parametrize(("name", "told"), [("torch-2.9", "torch-2.9"), ("today", "")])
def test_the_environment_is_told_where_it_is_not_that_of_the_launch(
    tmp_path: Path, name: str, told: str
) -> None:
    run = run_records([0.2] * 5)
    run.facts["python_environment"] = name

    assert describe(write_run_folder(tmp_path, run)).python_environment == told


def test_what_is_not_known_is_none(tmp_path: Path) -> None:
    run = run_records([], cpu_quota_cores=None, state="InProgress")

    info = describe(write_run_folder(tmp_path, run, usd_per_hour=None), last=False)

    assert info.usd_per_hour is None
    assert info.usd_so_far is None
    assert info.summary is None
    assert info.device_step_time_s is None
    assert info.groups[0].cpu_quota_cores is None
    assert info.evidence == "measured"


def test_a_damaged_file_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 5, state="InProgress"))
    (folder.records / "run.sqlite").write_bytes(b"no database" * 100)

    info = describe(folder, last=False)

    assert "run.sqlite' is damaged" in info.problem
    assert info.steps == 5


def test_events_come_in_order_with_seconds_since_the_begin(tmp_path: Path) -> None:
    run = run_records([0.2])
    run.events[:] = [
        EventRecord(time_s=STARTED_S + time_s, kind="data", host="algo-1", message=str(time_s))
        for time_s in (3.0, 1.0)
    ]

    events = describe(write_run_folder(tmp_path, run)).events

    assert [(event.time_s, event.message) for event in events] == [(1.0, "1.0"), (3.0, "3.0")]


def test_there_is_nothing_new_to_tell_when_nothing_happened(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 3, state="InProgress"))
    follower = RunFollower(folder, NOBODY)
    follower.look()
    describer = RunDescriber(follower)

    assert describer.look()
    assert not describer.look()

    set_state(folder, "Stopping")
    follower.look()
    assert describer.look()
    assert describer.describe().state == "Stopping"


def test_hostile_texts_stay_on_short_lines(tmp_path: Path) -> None:
    run = run_records([0.2])
    run.events[:] = [
        EventRecord(time_s=1.0, kind="data", host="", message=text) for text in HOSTILE_TEXTS
    ]

    info = describe(write_run_folder(tmp_path, run, reason=" ".join(HOSTILE_TEXTS)))

    assert len(info.events) == len(HOSTILE_TEXTS)
    for text in (*(event.message for event in info.events), info.reason):
        assert len(text) <= 2000
    for line in (*(event.message for event in info.events), *info.reason.split("\n")):
        assert line.isprintable()
