from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import pytest

from smtc_lab.follow.logged.metric_tables import MOST_METRICS
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.follow.table import CAPACITY
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.metric_record import MetricRecord, kept_value
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run.describer import RunDescriber
from smtc_lab.views.run.snapshot import take_snapshot
from tests.kit.hostile import HOSTILE_TEXTS
from tests.kit.records import STARTED_S, run_records, step_record
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.store.run_folder import RunFolder

FIRST, SECOND = "algo-1-rank0", "algo-2-rank1"
TWO = "dnn_group=ml.p3.2xlarge:2"


def metric(name: str, value: float, *, step: int | None = None, at_s: float = 3.0) -> Any:
    kept, text = kept_value(value)
    return MetricRecord(step=step, time_s=STARTED_S + at_s, name=name, value=kept, text=text)


def write(folder: RunFolder, records: Iterable[Any], *, rank: str = FIRST) -> None:
    with RecordWriter(folder.records / f"{rank}.sqlite") as writer:
        for record in records:
            writer.append(record)


def running(root: Path, run: RunRecords | None = None) -> RunFolder:
    """A run that goes on: its steps end after 2.2 s, 2.4 s, …"""
    return write_run_folder(root, run or run_records([0.2] * 10, state="InProgress"))


class Followed:
    """A follower, and the types of the frames of metrics that it sent."""

    def __init__(self, folder: RunFolder) -> None:
        self.frames: list[tuple[str, str]] = []
        self.stream = Stream(self._take)
        self.follower = RunFollower(folder, self.stream)
        self.look()

    def look(self) -> bool:
        self.frames.clear()
        found = self.follower.look()
        self.stream.flush()
        return found

    def rows(self) -> dict[str, list[list[float]]]:
        """Steps, times and values of each metric."""
        return {
            each.name: each.table.snapshot().rows.tolist()
            for each in self.follower.metrics.shown
        }

    def _take(self, content: dict[str, Any], _buffers: list[bytes]) -> None:
        if content["table"].startswith("metric:"):
            self.frames.append((content["table"], content["type"]))


def test_each_metric_is_a_table_and_only_what_is_new_is_sent_on(tmp_path: Path) -> None:
    folder = running(tmp_path)
    write(folder, [metric("loss", 2.0, step=1), metric("accuracy", 0.5, step=1, at_s=4.0)])
    followed = Followed(folder)

    assert followed.frames == [("metric:0", "reset"), ("metric:1", "reset")]
    write(folder, [metric("loss", 1.0, step=2, at_s=3.5)])
    assert followed.look()

    assert followed.frames == [("metric:0", "rows")]
    assert followed.rows() == {
        "loss": [[1, 2], [3.0, 3.5], [2.0, 1.0]],
        "accuracy": [[1], [4.0], [0.5]],
    }


def test_no_file_is_read_while_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = running(tmp_path)
    write(folder, [metric("loss", 2.0, step=1)])
    monkeypatch.setattr("smtc_lab.follow.changes._SETTLED_NS", -1)
    followed = Followed(folder)
    monkeypatch.setattr(
        "smtc_lab.follow.logged.metric_file.query", lambda *_: pytest.fail("it was read")
    )

    assert not followed.look()


def test_an_attempt_that_does_steps_again_makes_the_tables_anew(tmp_path: Path) -> None:
    folder = running(tmp_path)
    logged = [metric("loss", 9.0 - n, step=n, at_s=2 + 0.25 * n) for n in range(1, 9)]
    write(folder, [*logged, metric("late", 1.0, step=8)])
    followed = Followed(folder)

    write(
        folder,
        [
            AttemptRecord(attempt=2, time_s=STARTED_S + 10, first_step=3),
            step_record(step=3, end_time_s=STARTED_S + 11),
            metric("loss", 0.5, step=4, at_s=11.0),
        ],
    )
    assert followed.look()

    assert followed.rows() == {"loss": [[1, 2, 4], [2.25, 2.5, 11.0], [8.0, 7.0, 0.5]]}
    assert set(followed.frames) == {("metric:0", "reset"), ("metric:1", "reset")}


def test_what_was_found_in_what_is_printed_has_the_steps_of_the_first_trainer(
    tmp_path: Path,
) -> None:
    folder = running(tmp_path)
    definitions = ({"Name": "loss", "Regex": "loss=([0-9.]+)"},)
    job = run_records().job.model_copy(update={"metric_definitions": definitions})
    folder.job_file.write_text(job.to_json())
    write(folder, [metric("loss", 0.5, at_s=2.5)], rank="algo-1-printed")

    assert Followed(folder).rows() == {"loss": [[2], [2.5], [0.5]]}


def test_a_value_without_a_step_has_the_steps_that_were_done_then(tmp_path: Path) -> None:
    folder = running(tmp_path)
    printed = [metric("loss", 1.0, at_s=at_s) for at_s in (1.0, 2.5, 3.5)]
    write(folder, printed)
    assert Followed(folder).rows()["loss"][0] == [0, 2, 7]

    # that of a step that was lost is gone with it
    write(folder, [AttemptRecord(attempt=2, time_s=STARTED_S + 10, first_step=5)])

    assert Followed(folder).rows()["loss"][0] == [0, 2]


@pytest.mark.parametrize("looks", [1, 4])
def test_steps_that_begin_anew_with_each_epoch_go_on_by_time(
    tmp_path: Path, looks: int
) -> None:
    folder = running(tmp_path)
    given = [metric("loss", 1.0, step=n % 3, at_s=2.05 + 0.2 * n) for n in range(8)]
    followed = Followed(folder)
    for part in np.array_split(np.array(given, dtype=object), looks):
        write(folder, part)
        followed.look()

    assert followed.rows()["loss"][0] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_a_metric_is_that_of_the_first_trainer_that_logs_it(tmp_path: Path) -> None:
    run = run_records([0.2] * 3, cluster=TWO, num_ranks=2, state="InProgress")
    run.steps[SECOND] = run.steps.pop("algo-1-rank1")
    folder = running(tmp_path, run)
    write(folder, [metric("loss", 2.0, step=1), metric("own", 2.0, step=1)], rank=SECOND)
    followed = Followed(folder)
    assert followed.rows()["loss"][2] == [2.0]

    write(folder, [metric("loss", 1.0, step=1)])
    write(folder, [metric("loss", 3.0, step=2), metric("own", 3.0, step=2)], rank=SECOND)
    followed.look()

    assert {name: rows[2] for name, rows in followed.rows().items()} == {
        "loss": [1.0],
        "own": [2.0, 3.0],
    }
    assert followed.rows() == Followed(folder).rows()


def test_only_the_first_metrics_have_tables_and_the_rest_is_counted(tmp_path: Path) -> None:
    folder = running(tmp_path)
    write(folder, [metric(f"m{n}", n, step=n) for n in range(MOST_METRICS + 5)])

    followed = Followed(folder)

    assert list(followed.rows()) == [f"m{n}" for n in range(MOST_METRICS)]
    assert followed.follower.metrics.num_left_out == 5
    info = RunDescriber(followed.follower).describe()
    assert (len(info.metrics), info.metrics_left_out) == (MOST_METRICS, 5)


def test_what_is_no_number_is_a_gap_and_counts_in_nothing(tmp_path: Path) -> None:
    folder = running(tmp_path)
    values = [2.0, float("nan"), 1.0, float("inf"), 1e300]
    write(folder, [metric("loss", value, step=n) for n, value in enumerate(values)])

    followed = Followed(folder)

    np.testing.assert_array_equal(
        followed.rows()["loss"][2], [2.0, np.nan, 1.0, np.nan, np.nan]
    )
    (told,) = RunDescriber(followed.follower).describe().metrics
    assert (told.last, told.least, told.greatest, told.points) == (None, 1.0, 2.0, 5)


def test_hostile_names_and_values_harm_nobody(tmp_path: Path) -> None:
    folder = running(tmp_path)
    connection = apsw.Connection(str(folder.records / f"{FIRST}.sqlite"))
    hostile = ["x", b"blob", None, -1, 1e300, 2**62]
    insert = "INSERT INTO metric_record VALUES (?, ?, ?, ?, '')"
    connection.executemany(insert, [(each, each, "odd", each) for each in hostile])
    connection.executemany(insert, [(1, STARTED_S, name, 1.0) for name in (b"b", None, 7)])
    connection.executemany(insert, [(1, STARTED_S, text, 1.0) for text in HOSTILE_TEXTS[:28]])
    connection.close()

    followed = Followed(folder)

    info = RunDescriber(followed.follower).describe()
    assert [metric.name for metric in info.metrics[:3]] == ["odd", "7", HOSTILE_TEXTS[0]]
    assert max(len(metric.name) for metric in info.metrics) <= 250
    assert not any("\x1b" in metric.name for metric in info.metrics)
    steps, times_s, values = np.array(followed.rows()["odd"])
    assert not np.isnan([steps, times_s]).any()
    assert (values[~np.isnan(values)] == [-1]).all()


def test_times_are_of_the_clock_as_those_of_steps_are(tmp_path: Path) -> None:
    emulation = Emulation(time_dilation=10.0, device_step_time_s=0.01)
    run = run_records([0.2] * 5, emulation=emulation, state="InProgress")
    folder = running(tmp_path, run)
    last = run.steps[FIRST][-1]
    write(folder, [metric("loss", 1.0, step=5, at_s=last.end_time_s - STARTED_S)])

    followed = Followed(folder)

    steps = followed.follower.steps.table.snapshot().rows
    assert followed.rows()["loss"][1] == pytest.approx([steps[1, -1]])


def test_a_saved_run_keeps_all_of_a_long_metric_in_bins(tmp_path: Path) -> None:
    folder = running(tmp_path)
    count = CAPACITY + 9_000
    connection = apsw.Connection(str(folder.records / f"{FIRST}.sqlite"))
    with connection:
        connection.executemany(
            "INSERT INTO metric_record VALUES (?, ?, 'loss', ?, '')",
            ((n, STARTED_S + 0.01 * n, 9.0 if n == 77 else 1.0) for n in range(count)),
        )
    connection.close()

    saved = take_snapshot(folder)

    kept = saved.metrics["metric:0"]
    assert kept.num_rows == count
    assert kept.mean.shape[1] <= 400
    assert kept.high[2].max() == 9.0
    assert "metric:0" in saved.as_dict()["tables"]
    assert saved.info.metrics[0].points == count


def test_a_run_from_before_metrics_has_none(tmp_path: Path) -> None:
    folder = running(tmp_path)
    connection = apsw.Connection(str(folder.records / f"{FIRST}.sqlite"))
    connection.execute("DROP TABLE metric_record")
    connection.close()

    followed = Followed(folder)

    assert followed.rows() == {}
    assert followed.follower.steps.num_rows == 10
