from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.follow.log_tail import MOST_CHARACTERS, MOST_LINES, MOST_TOLD, LogTail

if TYPE_CHECKING:
    from pathlib import Path


def test_whole_lines_come_with_their_host(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_text("one\ntwo\nhal")
    tail = LogTail(tmp_path)

    assert tail.look()
    assert tail.as_dict() == {
        "lines": [["algo-1", "one"], ["algo-1", "two"]],
        "unfinished": [["algo-1", "hal"]],
        "leftOut": 0,
        "silent": [],
    }

    log.write_text("one\ntwo\nhalf\n")
    assert tail.look()
    assert tail.as_dict()["lines"][2:] == [["algo-1", "half"]]
    assert tail.as_dict()["unfinished"] == []


def test_a_progress_bar_is_told_while_it_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    tail = LogTail(tmp_path)

    for done in range(10, 60, 10):
        with log.open("a") as file:
            file.write(f"\r{done} %" + " " * 40_000)
        assert tail.look()
        ((_, shown),) = tail.as_dict()["unfinished"]
        assert shown.startswith(f"{done} %")
    assert tail.as_dict()["lines"] == []


def test_who_printed_nothing_is_told_until_it_prints(tmp_path: Path) -> None:
    (tmp_path / "algo-1-rank0.log").write_text("begun\n")
    silent = tmp_path / "algo-1-rank1.log"
    for name in (silent.name, "supervisor.log", "algo-1.agent.log"):
        (tmp_path / name).touch()
    tail = LogTail(tmp_path)

    assert tail.look()
    assert tail.as_dict()["silent"] == ["algo-1-rank1"]
    assert not tail.look()

    silent.write_text("at last\n" * 2 * MOST_LINES)
    assert tail.look()
    assert tail.as_dict()["silent"] == []


def test_who_prints_much_drives_no_other_out(tmp_path: Path) -> None:
    tail = LogTail(tmp_path)
    for rank in range(8):
        (tmp_path / f"algo-1-rank{rank}.log").write_text("begun\n" * (1 if rank else 900))
    tail.look()

    told = tail.as_dict()
    sources = [source for source, _ in told["lines"]]
    assert set(sources) == {f"algo-1-rank{rank}" for rank in range(8)}
    assert sources.count("algo-1-rank0") == MOST_TOLD // 8
    assert told["leftOut"] == 900 - MOST_TOLD // 8


def test_only_the_last_lines_are_kept_and_counted(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(MOST_LINES + 50))
    (tmp_path / "algo-1.log").write_text(lines)
    tail = LogTail(tmp_path)
    tail.look()

    kept = tail.as_dict()
    assert kept["leftOut"] == 50
    assert kept["lines"][0] == ["algo-1", "line 50"]


def test_a_huge_log_is_read_from_near_its_end(tmp_path: Path) -> None:
    (tmp_path / "algo-1.log").write_bytes(b"x" * 5_000_000 + b"\nthe end\n")
    tail = LogTail(tmp_path)
    tail.look()

    assert tail.as_dict()["lines"] == [["algo-1", "the end"]]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b" 10 %\r 20 %\r100 %\r", "100 %"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"y" * 5000, "y" * MOST_CHARACTERS),
        (b"<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
    ],
)
def test_a_line_is_what_a_terminal_would_leave(
    tmp_path: Path, printed: bytes, shown: str
) -> None:
    (tmp_path / "algo-1.log").write_bytes(printed + b"\n")
    tail = LogTail(tmp_path)
    tail.look()

    assert tail.as_dict()["lines"] == [["algo-1", shown]]


def test_logs_of_our_own_processes_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "algo-1.agent.log").write_text("ours\n")
    (tmp_path / "supervisor.log").write_text("ours\n")

    assert not LogTail(tmp_path).look()
