"""What an instance prints and records, forwarded to the log of its container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.lines import MAX_LINE_BYTES, line_key, parse_record_line
from smtc_lab.runtime.sagemaker.log import ContainerLog
from smtc_lab.store.line_sink import LineSink
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

KEY = line_key(b"s" * 32)


def forwarded(folder: Path) -> list[str]:
    """Return what comes of the log and the records that lie in a folder."""
    lines: list[str] = []
    log = ContainerLog(
        {folder / "algo-3.log": ""}, folder, host="algo-1", key=KEY, write=lines.append
    )
    log.start()
    log.close()
    return lines


def test_lines_are_forwarded_as_they_are_and_the_last_one_too(tmp_path: Path) -> None:
    (tmp_path / "algo-3.log").write_bytes(b"one\ntwo \xff\nSMTC {}\nno end")

    assert forwarded(tmp_path) == ["one", "two \ufffd", "SMTC {}", "no end"]


def test_lines_of_several_trainers_say_whose_they_are(tmp_path: Path) -> None:
    logs = {tmp_path / f"algo-3-rank{rank}.log": f"[rank{rank}] " for rank in (0, 1)}
    for log in logs:
        log.write_bytes(log.stem.encode() + b"\n" + b"x" * 100_000)
    lines: list[str] = []
    log = ContainerLog(logs, tmp_path, host="algo-1", key=KEY, write=lines.append)

    log.start()
    log.close()

    assert {"[rank0] algo-3-rank0", "[rank1] algo-3-rank1"} <= set(lines)
    assert {line[:8] for line in lines} == {"[rank0] ", "[rank1] "}
    assert max(map(len, lines)) <= MAX_LINE_BYTES


def test_a_line_without_an_end_is_forwarded_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "algo-3.log").write_bytes(b"x" * 100_000)

    lines = forwarded(tmp_path)

    assert "".join(lines) == "x" * 100_000
    assert max(map(len, lines)) <= MAX_LINE_BYTES


def test_records_are_forwarded_sealed_under_the_planned_name(tmp_path: Path) -> None:
    sink = LineSink(tmp_path / "algo-3-rank0.sqlite")
    for step in range(5):
        sink.append(step_record(step=step))
    sink.close()

    (line,) = forwarded(tmp_path)

    content = parse_record_line(KEY, line)
    assert content is not None
    assert (content["host"], content["file"], content["first"]) == ("algo-1", "rank0", 0)
    assert [row[0] for row in content["rows"]] == [0, 1, 2, 3, 4]


def test_an_instance_without_log_and_records_says_nothing(tmp_path: Path) -> None:
    assert forwarded(tmp_path) == []


def test_a_damaged_record_keeps_its_number_and_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "algo-3-rank0.5.lines"
    path.write_bytes(b"event_record [1]\nevent_rec\nevent_record [3]\n")
    lines: list[str] = []
    rows = [("event_record", [1]), ("damaged", []), ("event_record", [3])]
    log = ContainerLog(
        {tmp_path / "no.log": ""}, tmp_path, host="algo-1", key=KEY, write=lines.append
    )
    log.start()
    log.close()

    said = [parse_record_line(KEY, line) or {} for line in lines]
    assert [(c["table"], c["rows"][0]) for c in said] == rows
    assert [c["first"] for c in said] == [0, 1, 2]


def test_a_record_that_is_longer_than_a_line_is_forwarded_shortened(tmp_path: Path) -> None:
    row = 'event_record [1.0, "failure", "algo-3", "' + "x" * 100_000 + '"]\n'
    (tmp_path / "algo-3-rank0.5.lines").write_text(row, encoding="utf-8")

    (line,) = forwarded(tmp_path)

    content = parse_record_line(KEY, line)
    assert content is not None
    assert content["rows"][0][3] == "x" * 2000
