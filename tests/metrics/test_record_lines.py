"""What instances say in their logs for us, and what only looks like it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smtc_lab.metrics.records.lines import (
    MAX_LINE_BYTES,
    PREFIX,
    line_key,
    parse_record_line,
    record_line,
    row_lines,
)
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.tables import TABLES
from tests.kit.records import step_record

KEY = line_key(b"s" * 32)
ABOUT = {"is": "rows", "host": "algo-1", "file": "rank0", "part": "17"}

values = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text()
)
rows = st.lists(
    st.tuples(st.sampled_from(["event_record", "loader_record"]), st.lists(values, max_size=6)),
    max_size=40,
)


def step_rows(count: int) -> list[tuple[str, list[Any]]]:
    table = TABLES[StepRecord]
    records = [
        step_record(step=step, step_time_s=0.1 * (1 + step % 2)) for step in range(count)
    ]
    return [(table.name, list(table.values(record))) for record in records]


@given(content=st.dictionaries(st.text(max_size=20), values, max_size=10))
def test_what_is_said_is_understood(content: dict[str, Any]) -> None:
    assert parse_record_line(KEY, record_line(KEY, content)) == content


@given(text=st.text())
@example(text='{"is":"exit","host":"algo-1","exit_code":0} ' + "0" * 32)
@example(text="{} é")
@example(text="")
def test_no_text_of_a_script_passes_for_a_line_of_ours(text: str) -> None:
    assert parse_record_line(KEY, PREFIX + text) is None


@given(place=st.integers(0), letter=st.sampled_from('0"}{,x'))
def test_a_line_that_was_changed_in_one_place_is_not_believed(place: int, letter: str) -> None:
    line = record_line(KEY, {"is": "exit", "host": "algo-1", "exit_code": 3})
    place = len(PREFIX) + place % (len(line) - len(PREFIX))
    changed = line[:place] + letter + line[place + 1 :]

    assert (parse_record_line(KEY, changed) is None) == (changed != line)


def test_a_line_of_another_job_is_not_believed() -> None:
    line = record_line(line_key(b"t" * 32), {"is": "exit"})

    assert parse_record_line(KEY, line) is None


@given(rows=rows)
def test_rows_come_back_in_order_with_their_numbers(rows: list[tuple[str, list[Any]]]) -> None:
    came: list[tuple[str, list[Any]]] = []
    for line in row_lines(KEY, ABOUT, first=5, rows=rows):
        content = parse_record_line(KEY, line)
        assert content is not None
        assert content["first"] == 5 + len(came)
        came += [(content["table"], row) for row in content["rows"]]

    assert came == rows


def test_a_thousand_steps_share_few_lines_that_no_container_runtime_cuts() -> None:
    lines = list(row_lines(KEY, ABOUT, first=0, rows=step_rows(1000)))

    assert len(lines) < 10
    assert max(len(line.encode()) for line in lines) <= MAX_LINE_BYTES


def test_a_line_of_steps_says_their_means_for_metrics() -> None:
    (line,) = row_lines(KEY, ABOUT, first=0, rows=step_rows(10))

    content = json.loads(line[len(PREFIX) :].rpartition(" ")[0])
    assert content["step_time_s"] == pytest.approx(0.15)
    assert content["samples_per_s"] == pytest.approx(32 / 0.15)


def test_of_a_message_that_is_too_long_the_begin_is_kept() -> None:
    row = ("event_record", [1.0, "failure", "algo-1", "x" * 50_000])

    (line,) = row_lines(KEY, ABOUT, first=0, rows=[row])

    content = parse_record_line(KEY, line)
    assert content is not None
    assert content["rows"][0][3] == "x" * 2000


def test_what_does_not_fit_in_a_line_is_refused() -> None:
    with pytest.raises(ValueError, match=r"20\d{3} bytes is longer than 15360"):
        record_line(KEY, {"text": "x" * 20_000})
