"""What a script logged, read as columns."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.metric_record import MOST_NAMES, MetricRecord, kept_value
from smtc_lab.store.line_sink import LineSink, parsed_row
from smtc_lab.store.mirrored import MirroredRecords
from smtc_lab.store.reader import read_records
from smtc_lab.store.steps.logged import read_logged
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from smtc_lab.metrics.records.logged import LoggedMetrics
    from smtc_lab.store.run_folder import RunFolder


def metric(name: str, value: float, *, step: int | None = 0, time_s: float = 1.0) -> Any:
    number, text = kept_value(value)
    return MetricRecord(step=step, time_s=time_s, name=name, value=number, text=text)


def write(folder: RunFolder, name: str, *records: Any) -> None:
    with RecordWriter(folder.records / f"{name}.sqlite") as writer:
        for record in records:
            writer.append(record)


def columns_of(metrics: LoggedMetrics, *which: Any) -> list[list[float]]:
    found = metrics[which if len(which) > 1 else which[0]]
    return [found.step.tolist(), found.time_s.tolist(), found.value.tolist()]


def test_metrics_come_by_name_and_rank(run_folder: RunFolder) -> None:
    write(run_folder, "algo-2-rank10", metric("loss", 4.0, step=3))
    write(
        run_folder,
        "algo-1-rank2",
        metric("loss", 0.5, step=1, time_s=10.0),
        metric("accuracy", 0.1, step=1, time_s=11.0),
        metric("loss", 0.25, step=2, time_s=12.0),
        metric("loss", 0.75, step=4, time_s=13.0),
    )

    found = read_logged(run_folder)

    assert found.names == ("accuracy", "loss")
    assert columns_of(found, "loss") == [[1, 2, 4], [10, 12, 13], [0.5, 0.25, 0.75]]
    assert columns_of(found, "loss", 10)[2] == [4.0]
    ranks = [(one.name, one.rank) for one in found.series]
    assert ranks == [("accuracy", 2), ("loss", 2), ("loss", 10)]
    loss = found["loss"]
    assert (loss.last, loss.least, loss.greatest) == (0.75, 0.25, 0.75)
    assert found.last == {"accuracy": 0.1, "loss": 0.75}


def test_a_run_that_logged_nothing_has_no_metric(run_folder: RunFolder) -> None:
    write(run_folder, "algo-1-rank0", step_record())

    found = read_logged(run_folder)

    assert (found.names, found.last, found.series) == ((), {}, ())
    with pytest.raises(StoreError, match=r"no metric 'loss'\. It has: none"):
        found["loss"]


def test_what_was_not_logged_is_told_with_what_was(run_folder: RunFolder) -> None:
    write(run_folder, "algo-1-rank0", metric("loss", 1.0), metric("lr", 1.0))
    found = read_logged(run_folder)

    with pytest.raises(StoreError, match=r"no metric 'los'\. It has: loss, lr\."):
        found["los"]
    with pytest.raises(StoreError, match=r"no metric \"\('lr', 3\)\"\. It has: loss, lr\."):
        found["lr", 3]


def test_nan_and_infinite_values_come_back(run_folder: RunFolder) -> None:
    values = [math.nan, math.inf, -math.inf, 1e300, -0.5]
    write(run_folder, "algo-1-rank0", *(metric("loss", value) for value in values))

    loss = read_logged(run_folder)["loss"]

    np.testing.assert_array_equal(loss.value, values)
    assert (loss.least, loss.greatest) == (-math.inf, math.inf)


def test_a_value_without_a_step_gets_the_one_that_had_ended_last(run_folder: RunFolder) -> None:
    steps = [step_record(step=step, end_time_s=100.0 + step) for step in range(3)]
    write(run_folder, "algo-1-rank0", *steps, metric("given", 1.0, step=9))
    write(run_folder, "algo-2-rank1", *steps[:1])
    printed = [metric("loss", 1.0, step=None, time_s=at) for at in (99.0, 100.0, 101.5, 200.0)]
    write(run_folder, "algo-1-printed", *printed)

    found = read_logged(run_folder)

    np.testing.assert_array_equal(found["loss"].step, [math.nan, 0, 1, 2])
    assert found["loss"].rank is None
    assert found["given"].step.tolist() == [9.0]


def test_without_any_step_it_stays_unknown(run_folder: RunFolder) -> None:
    write(run_folder, "algo-1-printed", metric("loss", 1.0, step=None))

    assert np.isnan(read_logged(run_folder)["loss"].step).all()


def test_an_attempt_replaces_what_was_logged_since_the_step_it_begins_with(
    run_folder: RunFolder,
) -> None:
    steps = [step_record(step=step, end_time_s=100.0 + step) for step in range(4)]
    kept = [  # step 2 began at 101.8
        metric("epoch", 0.0, step=1000, time_s=101.1),
        metric("loss", 1.0, step=1, time_s=101.7),
    ]
    lost = [metric("epoch", 0.5, step=1, time_s=101.9), metric("loss", 1.0, time_s=103.5)]
    again = [metric("loss", 7.0, step=2, time_s=202.0)]
    write(run_folder, "algo-1-rank0", *steps, *kept, *lost)

    resumed = AttemptRecord(attempt=2, time_s=200.0, first_step=2)
    write(run_folder, "algo-1-rank0", resumed, *again)

    path = run_folder.records / "algo-1-rank0.sqlite"
    assert read_records(path, MetricRecord)[0] == [*kept, *again]


def test_an_attempt_that_takes_no_step_again_loses_nothing(run_folder: RunFolder) -> None:
    logged = [metric("loss", 1.0, step=1, time_s=500.0)]
    write(run_folder, "algo-1-rank0", step_record(step=0, end_time_s=100.0), *logged)

    write(run_folder, "algo-1-rank0", AttemptRecord(attempt=2, time_s=600.0, first_step=1))

    path = run_folder.records / "algo-1-rank0.sqlite"
    assert read_records(path, MetricRecord)[0] == logged


TRAINER = """
    import sys
    import smtc_lab
    for number in range(700):
        smtc_lab.log(loss=number / 8)
    print("logged", flush=True)
    sys.stdin.read()
"""


def test_kill_9_loses_nothing_that_was_logged_a_moment_ago(run_folder: RunFolder) -> None:
    told = {"SMTC_RUN_ID": str(run_folder.path), "SM_CURRENT_HOST": "algo-1"}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(TRAINER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **told},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"logged\n"
        # nobody flushes: the writer commits by itself, every 0.1 s
        wait_until(lambda: num_values(run_folder) == 700, what="the values are committed")
        process.send_signal(signal.SIGKILL)

    assert read_logged(run_folder)["loss"].value.tolist() == [n / 8 for n in range(700)]


def test_what_a_container_says_in_lines_is_the_same(run_folder: RunFolder) -> None:
    logged = [metric("loss", 0.5), metric("loss", math.nan, step=1), metric("lr", math.inf)]
    path = run_folder.records / "algo-1-rank0.sqlite"
    sink = LineSink(path)
    for record in logged:
        sink.append(record)
    sink.close()
    (lines,) = run_folder.records.glob("*.lines")

    rows = [parsed_row(line) for line in lines.read_bytes().splitlines()]
    mirrored = MirroredRecords(path, host="algo-1")
    for first, (table, values) in enumerate(rows):
        assert mirrored.add("1", first, table, [values])
    mirrored.close()

    assert read_records(path, MetricRecord)[0] == logged
    np.testing.assert_array_equal(read_logged(run_folder)["loss"].value, [0.5, math.nan])


def num_values(folder: RunFolder) -> int:
    metrics = read_logged(folder)
    return len(metrics["loss"].value) if metrics.names else 0


def spoil(folder: RunFolder, sql: str) -> None:
    write(folder, "algo-1-rank0", metric("loss", 1.0), metric("loss", math.nan, step=1))
    apsw.Connection(str(folder.records / "algo-1-rank0.sqlite")).execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE metric_record SET name = NULL",
        "UPDATE metric_record SET name = x'00ff'",
        "UPDATE metric_record SET value = 'much'",
        "UPDATE metric_record SET time_s = x'00'",
        "UPDATE metric_record SET step = 'first'",
        "DROP TABLE metric_record; CREATE VIEW metric_record AS SELECT 1 AS name",
    ],
)
def test_a_damaged_file_is_named(run_folder: RunFolder, sql: str) -> None:
    spoil(run_folder, sql)

    with pytest.raises(StoreError, match=r"algo-1-rank0\.sqlite"):
        read_logged(run_folder)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE metric_record SET text = 'much', value = NULL",
        "UPDATE metric_record SET text = NULL, value = NULL",
        "UPDATE metric_record SET text = x'00ff', value = NULL",
    ],
)
def test_a_value_that_is_none_is_nan(run_folder: RunFolder, sql: str) -> None:
    spoil(run_folder, sql)

    assert np.isnan(read_logged(run_folder)["loss"].value).all()


def test_names_of_a_folder_from_elsewhere_are_neutral_short_and_few(
    run_folder: RunFolder,
) -> None:
    many = [metric(f"loss {number}", 1.0) for number in range(MOST_NAMES + 7)]
    write(run_folder, "algo-1-rank0", metric("\x1b[2J" + "n" * 9_999, 1.0), *many)

    names = read_logged(run_folder).names

    assert len(names) == MOST_NAMES
    assert max(map(len, names)) == 250
    assert not any("\x1b" in name for name in names)


def test_a_file_of_before_metrics_has_none(run_folder: RunFolder) -> None:
    spoil(run_folder, "DROP TABLE metric_record")

    assert read_logged(run_folder).names == ()


def test_a_table_of_pandas_needs_pandas(
    run_folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    write(run_folder, "algo-1-rank0", metric("loss", 1.0))

    with pytest.raises(StoreError, match=r"pandas is not installed.*pip install pandas"):
        read_logged(run_folder).to_pandas()


def test_a_table_has_a_row_for_each_value(run_folder: RunFolder) -> None:
    pandas = pytest.importorskip("pandas")
    write(run_folder, "algo-1-rank0", metric("loss", 1.0), metric("lr", 2.0, step=4))
    write(run_folder, "algo-1-printed", metric("loss", 3.0))

    table = read_logged(run_folder).to_pandas()

    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["name", "rank", "step", "time_s", "value"]
    assert table["value"].tolist() == [1.0, 3.0, 2.0]
    assert table["rank"].tolist() == [0, None, 0]
