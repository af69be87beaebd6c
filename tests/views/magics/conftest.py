"""A shell of IPython's own, with a folder of runs of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "home"
    for folder in find_runs():
        Run.open(folder.job_name).stop()


@pytest.fixture
def shell() -> InteractiveShell:
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    shell.run_line_magic("load_ext", "smtc_lab")
    return shell
