"""Rows of a record file elsewhere: they come in pieces, twice, late, and are kept once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.records.records import EventRecord, StepRecord
from smtc_lab.store.mirrored import MirroredRecords
from smtc_lab.store.reader import read_records
from smtc_lab.store.tables import TABLES
from tests.kit.records import step_record

TABLE = TABLES[StepRecord]


def rows(first: int, end: int) -> list[list[Any]]:
    return [list(TABLE.values(step_record(step=step))) for step in range(first, end)]


def steps(path: Path) -> list[int]:
    return [step.step for step in read_records(path, StepRecord)[0]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "algo-1-rank0.sqlite"


pieces = st.lists(st.tuples(st.integers(0, 19), st.integers(1, 8)), max_size=12)


@settings(max_examples=25, deadline=None)
@given(pieces=pieces)
def test_rows_are_kept_once_and_in_order_however_they_come(
    pieces: list[tuple[int, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.sqlite")
        mirrored = MirroredRecords(path, host="algo-1")
        for first, count in pieces:
            mirrored.add("1", first, TABLE.name, rows(first, min(20, first + count)))
            assert steps(path) == list(range(mirrored.count("1")))
        mirrored.add("1", 0, TABLE.name, rows(0, 20))

        assert steps(path) == list(range(20))
        assert mirrored.settle() == 0
        mirrored.close()


def test_a_second_process_goes_on_where_the_first_one_was(path: Path) -> None:
    first = MirroredRecords(path, host="algo-1")
    first.add("1", 0, TABLE.name, rows(0, 5))
    first.close()

    second = MirroredRecords(path, host="algo-1")
    second.add("1", 0, TABLE.name, rows(0, 8))

    assert second.count("1") == 8
    assert steps(path) == list(range(8))
    second.close()


def test_parts_are_counted_apart(path: Path) -> None:
    mirrored = MirroredRecords(path, host="algo-1")

    mirrored.add("1", 0, TABLE.name, rows(0, 2))
    mirrored.add("2", 0, TABLE.name, rows(2, 4))

    assert steps(path) == [0, 1, 2, 3]
    mirrored.close()


def test_rows_that_never_came_are_counted_and_the_others_kept(path: Path) -> None:
    mirrored = MirroredRecords(path, host="algo-1")
    mirrored.add("1", 0, TABLE.name, rows(0, 2))
    mirrored.add("1", 5, TABLE.name, rows(5, 7))
    assert steps(path) == [0, 1]

    assert mirrored.settle() == 3
    assert steps(path) == [0, 1, 5, 6]
    mirrored.close()


def test_events_bear_the_name_of_their_host_in_the_plan(path: Path) -> None:
    mirrored = MirroredRecords(path, host="algo-1")

    mirrored.add("1", 0, "event_record", [[1.0, "warning", "algo-7", "something"]])

    (event,) = read_records(path, EventRecord)[0]
    assert event.host == "algo-1"
    mirrored.close()


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("sqlite_master", [1]),
        (TABLE.name, [1]),
        (TABLE.name, "text"),
        (TABLE.name, [{}, 1, 1, 1, 1, 1, 1]),
        (TABLE.name, [2**63, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_what_is_no_record_is_refused(path: Path, table: str, row: object) -> None:
    mirrored = MirroredRecords(path, host="algo-1")

    assert not mirrored.add("1", 0, table, [row])
    assert mirrored.count("1") == 0
    mirrored.close()
