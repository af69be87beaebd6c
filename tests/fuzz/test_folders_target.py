"""What ``make fuzz`` does with folders works, finds nothing, and notices defects."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smtc_lab.store import state
from tests.fuzz import folders_target
from tests.fuzz.folders_target import Folders

_INPUTS = 2_000
_REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_good_files_are_read_by_their_readers_and_by_all_views(folders: Folders) -> None:
    for name, file in folders.files.items():
        assert folders.attack(name, file.good, 0), name


@pytest.mark.soak
def test_thousands_of_hostile_files_break_no_reader(tmp_path: Path) -> None:
    """In a process of its own, whose memory is bounded."""
    command = [sys.executable, "-m", "tests.fuzz.fuzz_folders", "--inputs", str(_INPUTS)]

    done = subprocess.run(
        [*command, "--views-every", "30", "--keep", str(tmp_path)],
        cwd=_REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(_REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3_000:]
    told = done.stdout.splitlines()
    assert re.match(rf"{_INPUTS:,} inputs in \d+ s, no defect", told[-1])
    # as many readers as there are files, and hostile files are not all refused at the door
    assert len(told) == 20
    assert sum(", 0 read" not in line for line in told[:-1]) >= 15


def test_a_reader_that_breaks_is_a_finding(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(state, "time_of")

    with pytest.raises(NameError, match="time_of"):
        folders.attack("runs/hostile-1/state.json", b"{}", 1)


def test_a_reader_that_takes_long_is_a_finding(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders_target, "LONGEST_S", 0.0)

    with pytest.raises(TimeoutError, match=r"state\.json was read in"):
        folders.attack("runs/hostile-1/state.json", b"{}", 1)


def test_a_list_that_loses_a_healthy_run_is_a_finding(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders_target, "run_rows", lambda *_, **__: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        folders.attack("runs/hostile-1/state.json", b"{", 0)


def test_the_same_seed_makes_the_same_files(folders: Folders) -> None:
    for name in folders.files:
        first, second = (
            [folders.hostile(name, chance) for _ in range(20)]
            for chance in (random.Random(7), random.Random(7))  # noqa: S311  no secret
        )
        assert first == second
