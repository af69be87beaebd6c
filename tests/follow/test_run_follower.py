from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.follow.table import CAPACITY
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import (
    HETEROGENEOUS,
    STARTED_S,
    run_records,
    step_record,
    system_sample,
)
from tests.kit.run_folders import set_state, write_many_steps, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.store.run_folder import RunFolder


class Sent:
    """What a browser got, and the rows of its tables."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.rows: dict[str, NDArray[np.float64]] = {}
        self.stream = Stream(self._take)

    def _take(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        self.messages.append(content)
        new = np.frombuffer(buffers[0]).reshape(len(content["columns"]), -1)
        if content["type"] == "reset":
            self.rows[content["table"]] = new
        else:
            before = self.rows.get(content["table"], new[:, :0])
            assert content["first"] == before.shape[1]
            self.rows[content["table"]] = np.concatenate([before, new], axis=1)


@pytest.fixture
def sent() -> Sent:
    return Sent()


def follow(folder: RunFolder, sent: Sent, prefix: str = "") -> RunFollower:
    follower = RunFollower(folder, sent.stream, prefix=prefix)
    follower.look()
    sent.stream.flush()
    return follower


def test_the_steps_and_samples_of_a_finished_run_become_tables(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.4, 0.2, 0.2], cluster=HETEROGENEOUS, device_time_s=0.05)

    follow(write_run_folder(tmp_path, run), sent, prefix="1/")

    assert set(sent.rows) == {"1/steps", "1/system:algo-1", "1/system:algo-2"}
    step, time_s, step_time_s, wait_s, device_s, device = sent.rows["1/steps"]
    assert step.tolist() == [0, 1, 2]
    assert time_s.tolist() == pytest.approx([2.4, 2.6, 2.8])
    assert step_time_s.tolist() == pytest.approx([0.4, 0.2, 0.2])
    assert wait_s.tolist() == pytest.approx([0.2, 0.1, 0.1])
    assert device_s.tolist() == pytest.approx([0.05] * 3)
    assert device.tolist() == pytest.approx([0.125, 0.25, 0.25])


def test_cpu_is_a_fraction_of_the_quota_and_unknown_before_it_applies(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.2] * 5, cpu_used_fraction=0.8)

    follow(write_run_folder(tmp_path, run), sent)

    cpu = sent.rows["system:algo-1"][1]
    assert np.isnan(cpu[:4]).all()  # the start-up of 2 s
    assert cpu[4:] == pytest.approx(0.8)


def test_no_cpu_is_shown_busier_than_all_of_its_quota(tmp_path: Path, sent: Sent) -> None:
    run = run_records([0.2] * 5, cpu_used_fraction=1.04)

    follow(write_run_folder(tmp_path, run), sent)

    assert np.nanmax(sent.rows["system:algo-1"][1]) == 1.0


def test_an_interval_too_short_to_count_cpu_time_in_tells_nothing(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.2])
    run.system["algo-1"][:] = [system_sample(interval_s=0.01, cpu_used_s=0.02)]

    follow(write_run_folder(tmp_path, run), sent)

    assert np.isnan(sent.rows["system:algo-1"][1]).all()


def test_without_a_quota_the_cores_of_the_machine_stand_for_it(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.2] * 5, cpu_quota_cores=None, cpu_used_fraction=0.5)

    follow(write_run_folder(tmp_path, run), sent)

    assert sent.rows["system:algo-1"][1] == pytest.approx(0.5)


def test_a_sample_right_behind_another_one_tells_nothing_of_the_network(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.2])
    run.system["algo-1"][:] = [
        system_sample(network_received_bytes=received, time_s=STARTED_S + time_s, **more)
        for received, time_s, more in [
            (100, 0.0, {}),
            (600, 1.0, {}),
            (5600, 1.02, {"interval_s": 0.02}),
        ]
    ]

    follow(write_run_folder(tmp_path, run), sent)

    received_per_s = sent.rows["system:algo-1"][3]
    assert received_per_s[1] == 1000.0
    assert np.isnan(received_per_s[2])


def test_network_is_the_difference_of_two_samples(tmp_path: Path, sent: Sent) -> None:
    run = run_records([0.2])
    run.system["algo-1"][:] = [
        system_sample(network_received_bytes=received, time_s=STARTED_S + place)
        for place, received in enumerate([100, 600, 50])
    ]

    follow(write_run_folder(tmp_path, run), sent)

    received_per_s = sent.rows["system:algo-1"][3]
    assert received_per_s[1] == 1000.0
    assert np.isnan(received_per_s[[0, 2]]).all()  # nothing before; the counter began anew


def test_new_rows_follow_and_time_never_goes_back(tmp_path: Path, sent: Sent) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2], state="InProgress"))
    follower = follow(folder, sent)
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        writer.append(step_record(step=1, end_time_s=STARTED_S - 5.0))

    assert follower.look()
    sent.stream.flush()

    assert sent.rows["steps"][0].tolist() == [0, 1]
    assert (np.diff(sent.rows["steps"][1]) >= 0).all()


def test_nothing_new_is_nothing_read(
    tmp_path: Path, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2], state="InProgress"))
    follower = follow(folder, sent)
    settled = "smtc_lab.follow.changes._SETTLED_NS"
    monkeypatch.setattr(settled, -1)  # as if the files were written long ago
    follower.look()
    monkeypatch.setattr(
        "smtc_lab.store.steps.columns.query", lambda *_: pytest.fail("it was read")
    )

    assert not follower.look()


def test_a_run_that_has_not_begun_has_no_tables(tmp_path: Path, sent: Sent) -> None:
    folder = write_run_folder(tmp_path, run_records([], state="Pending"))
    folder.state_file.unlink()

    follower = follow(folder, sent)

    assert follower.state.state == "Pending"
    assert sent.rows == {}


def test_the_end_of_a_run_is_seen(tmp_path: Path, sent: Sent) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2], state="InProgress"))
    follower = follow(folder, sent)
    set_state(folder, "Failed", reason="It broke.")

    assert follower.look()
    assert follower.state.reason == "It broke."


def test_a_rank_that_recorded_nothing_does_not_hide_the_others(
    tmp_path: Path, sent: Sent
) -> None:
    run = run_records([0.2, 0.2], cluster="dnn_group=ml.p3.2xlarge:2")
    run.steps["algo-2-rank1"] = []

    follow(write_run_folder(tmp_path, run), sent)

    assert sent.rows["steps"][0].tolist() == [0, 1]


def test_a_long_run_comes_as_bins_and_its_last_rows(tmp_path: Path, sent: Sent) -> None:
    folder = write_run_folder(tmp_path, run_records([], state="InProgress"))
    num_steps = CAPACITY + 40_000
    write_many_steps(folder.records / "algo-1-rank0.sqlite", num_steps, spike_at=1234)

    follower = follow(folder, sent)

    (reset,) = [message for message in sent.messages if message["table"] == "steps"]
    first = reset["first"]
    assert reset["type"] == "reset"
    assert first % reset["bins"]["width"] == 0
    assert sent.rows["steps"][0].tolist() == list(range(first, num_steps))
    part = follower.read("steps", 1000, 2000, 100)
    assert part is not None
    assert part.bins is not None
    assert part.bins.high[2].max() == 9.0


def test_few_rows_of_a_part_come_as_they_are(tmp_path: Path, sent: Sent) -> None:
    follower = follow(write_run_folder(tmp_path, run_records([0.2] * 10)), sent)

    part = follower.read("steps", 2, 5, 100)

    assert part is not None
    assert part.bins is None
    assert part.rows[0].tolist() == [2, 3, 4]
    assert follower.read("system:algo-1", 0, 1, 1) is None
