"""Runs and comparisons are deleted from a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.store.run_folder import find_runs
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]


def test_a_run_is_deleted_for_good(smtc_lab: SmtcLab, home: Path) -> None:
    for name in ("old-1", "old-2", "old-3"):
        write_run_folder(home / "runs", run_records([0.2], job_name=name))

    said = smtc_lab("runs", "delete", "--yes", "old-1", "old-3")

    assert (said.exit_code, said.out) == (0, "old-1: deleted.\nold-3: deleted.\n")
    assert [folder.job_name for folder in find_runs(home / "runs")] == ["old-2"]
    assert not list((home / "runs").glob(".trash/*"))
