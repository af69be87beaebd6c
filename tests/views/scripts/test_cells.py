"""The cells of a notebook that can be run as scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from smtc_lab.views.scripts import cells
from smtc_lab.views.scripts.cells import offered_cells, save_cell

if TYPE_CHECKING:
    from collections.abc import Callable

TRAINING = "import torch\n\nfor step in range(2):\n    secret = 'sk-123'\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run a cell, as far as a shell takes note of it."""
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    monkeypatch.setattr(cells, "get_ipython", lambda: shell)

    def run_cell(source: str) -> None:
        shell.history_manager.store_inputs(shell.execution_count, source)
        shell.execution_count += 1

    return run_cell


def test_outside_a_notebook_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "get_ipython", lambda: None)

    assert offered_cells() == ()
    assert "no cell 1" in save_cell(1).problem


def test_cells_that_may_train_are_offered_the_newest_first(run: Callable[[str], None]) -> None:
    run(TRAINING)
    run("1 + 1")
    run("class Net: pass\ndef batches(): pass\nTrainer().fit(Net())")
    run("!ls\nfor a in b: pass")
    run("%%smtc\nwhile True: pass")

    told = offered_cells()

    assert [each.number for each in told] == [5, 3, 1]
    assert told[1].about == "3 lines: defines Net, batches"
    assert told[2].about == "4 lines: imports torch"
    assert "sk-123" not in repr(told)


def test_the_same_cell_is_offered_once(run: Callable[[str], None]) -> None:
    run(TRAINING)
    run(TRAINING)

    assert [each.number for each in offered_cells()] == [2]


def test_a_chosen_cell_becomes_the_file_that_smtc_makes_of_it(
    run: Callable[[str], None],
) -> None:
    run(f"%%smtc --rounds 2\n{TRAINING}")

    saved = save_cell(1)

    assert saved.problem == ""
    assert Path(saved.path).read_text().endswith(TRAINING.strip())
    assert Path(saved.path).stat().st_mode & 0o077 == 0


def test_a_cell_that_is_gone_or_no_python_says_what_to_do(run: Callable[[str], None]) -> None:
    run("for a in b: pass")
    run("!ls")

    assert "Run it again" in save_cell(7).problem
    assert "not Python" in save_cell(2).problem
