from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.harness.rounds import in_turns, ratios
from notebooks.benchmarks.harness.table import text_table
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_fresh_process_finds_benchmarks_and_kit_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    program = (
        "import notebooks.benchmarks, tests.kit, os; print('warned'); print(os.environ['WORD'])"
    )

    # -S: without what is installed, as the interpreter of another environment is
    assert measured("a word", "-S", "-c", program, environment={"WORD": "[1]"}) == [1]


def test_a_measurement_that_fails_tells_what_and_why() -> None:
    with pytest.raises(RunFailedError, match=r"of nothing ended with exit code 1: .*no luck"):
        measured("nothing", "-c", "raise SystemExit('no luck')")


def test_every_second_round_goes_the_other_way() -> None:
    assert [in_turns("abc", number) for number in (0, 1, 2)] == [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["a", "b", "c"],
    ]


def test_a_round_that_has_only_one_of_two_gives_no_ratio() -> None:
    assert ratios({0: 6.0, 1: 5.0}, {0: 3.0, 2: 1.0}) == {0: 2.0}


def test_a_table_has_columns_as_wide_as_what_is_in_them() -> None:
    table = text_table(["peer", "GB/s"], [["raw", "1"], ["ours_tcp", "12.5"]], names=1)

    assert table.splitlines() == ["peer      GB/s", "raw          1", "ours_tcp  12.5"]
