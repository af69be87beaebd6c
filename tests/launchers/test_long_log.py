"""Of a log that is longer than is read at once, its end is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.supervised import LOG_BYTES

if TYPE_CHECKING:
    from tests.kit.run_folders import WriteRun


def test_the_end_of_a_long_log_is_told(ended_run: WriteRun) -> None:
    run = ended_run("long")
    lines = [f"line {number}" for number in range(LOG_BYTES // 8)]
    run.folder.log_file("algo-1").write_text("\n".join([*lines, ""]), encoding="utf-8")
    run.folder.log_file("algo-2").write_text("short\n", encoding="utf-8")

    told = run.logs("algo-1").splitlines()

    assert told == lines[-len(told) :]
    assert LOG_BYTES - 20 < sum(len(line) + 1 for line in told) <= LOG_BYTES
    assert run.logs("algo-2") == "short"
    assert run.poll().log[0].text == "line 0"


def test_a_progress_bar_is_a_line_as_a_terminal_leaves_it(ended_run: WriteRun) -> None:
    run = ended_run("bar")
    log = run.folder.log_file("algo-1")
    log.write_bytes(b"begun\r\n\r 10 %\r 50 %\r100 %\n\x1b[32mdone\x1b[0m\n")

    assert run.logs("algo-1") == "begun\n100 %\ndone"
