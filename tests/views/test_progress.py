from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient

from smtc_lab.study.watched_run import Progress
from smtc_lab.views.progress import ProgressLine, progress_text
from tests.kit.hostile import HOSTILE_TEXTS

PROGRESS = Progress(
    launch=2,
    launches=4,
    cluster="fed",
    steps=7,
    max_steps=20,
    elapsed_s=12.0,
    mean_step_time_s=0.25,
)
CELL = """
from smtc_lab.study.watched_run import Progress
from smtc_lab.views.progress import ProgressLine
with ProgressLine() as line:
    line.show(Progress(launch=1, launches=2, cluster="fed", steps=0, max_steps=None,
                       elapsed_s=0.0, mean_step_time_s=None))
"""


def test_a_terminal_gets_progress_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLine() as line:
        line.show(PROGRESS)

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "launch 2 of 4: fed, step 7 of 20, 0.250 s/step (12 s)\n"


def test_a_notebook_shows_progress_as_output_and_not_as_an_error() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])

    NotebookClient(notebook, timeout=120).execute()

    assert [each.name for each in notebook.cells[0].outputs] == ["stdout"]


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=lambda text: ascii(text)[:20])
def test_progress_is_one_short_line_that_a_terminal_does_not_obey(text: str) -> None:
    line = progress_text(replace(PROGRESS, cluster=text))

    assert line.isprintable()
    assert len(line) < 200
