"""Records as lines of text, which a container without SQLite writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import StoreError
from smtc_lab.store.line_sink import LineSink, parsed_row
from smtc_lab.store.sink import LINES_VARIABLE, open_sink
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.metrics.records.records import StepRecord


def rows_of(folder: Path) -> list[tuple[str, list[object]]]:
    parts = sorted(folder.glob("algo-1-rank0.*.lines"))
    return [parsed_row(line) for part in parts for line in part.read_bytes().splitlines()]


def expected(records: list[StepRecord]) -> list[tuple[str, list[object]]]:
    return [("step_record", list(TABLES[type(r)].values(r))) for r in records]


def test_a_record_is_with_the_system_when_append_returns(tmp_path: Path) -> None:
    records = [step_record(step=step) for step in range(3)]
    sink = LineSink(tmp_path / "algo-1-rank0.sqlite")

    for record in records:
        sink.append(record)

    assert rows_of(tmp_path) == expected(records)
    sink.close()


def test_a_long_run_is_kept_in_parts(tmp_path: Path) -> None:
    records = [step_record(step=step) for step in range(50)]
    sink = LineSink(tmp_path / "algo-1-rank0.sqlite", part_bytes=1000)

    for record in records:
        sink.append(record)
    sink.close()

    assert len(list(tmp_path.iterdir())) >= 3
    assert all(part.stat().st_size <= 1000 for part in tmp_path.iterdir())
    assert rows_of(tmp_path) == expected(records)


def test_a_process_that_is_started_again_goes_on_in_a_file_of_its_own(tmp_path: Path) -> None:
    for step in range(2):
        sink = LineSink(tmp_path / "algo-1-rank0.sqlite")
        sink.append(step_record(step=step))
        sink.close()

    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_is_kept_after_close(tmp_path: Path) -> None:
    sink = LineSink(tmp_path / "algo-1-rank0.sqlite")
    sink.close()
    sink.close()

    sink.append(step_record())

    assert rows_of(tmp_path) == []


def test_a_full_disk_is_an_error_that_says_what_to_do(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    sink = LineSink(small_disk / "algo-1-rank0.sqlite")
    fill(small_disk)

    def write_a_lot() -> None:
        for _ in range(100):
            sink.append(step_record())

    with pytest.raises(StoreError, match=r"No space left.*more storage"):
        write_a_lot()
    sink.close()


def test_the_environment_chooses_between_lines_and_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite = open_sink(tmp_path / "a.sqlite")
    monkeypatch.setitem(os.environ, LINES_VARIABLE, "1")
    lines = open_sink(tmp_path / "b.sqlite")

    assert isinstance(sqlite, RecordWriter)
    assert isinstance(lines, LineSink)
    sqlite.close()
    lines.close()


def test_a_damaged_line_is_no_record() -> None:
    assert parsed_row(b"step_record [1, 2") == ("damaged", [])
    assert parsed_row(b"\xff [1]") == ("damaged", [])
