"""The reason of a run whose script ended itself with a code holds what the script said."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.supervision.last_words import last_words
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    WordsOf = Callable[[str], str]

ARGUMENTS = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    print("begun")
    parser.parse_args()
"""


@pytest.fixture
def words_of(tmp_path: Path) -> WordsOf:
    """Run a script as an agent would, and return what the reason of its run would add."""

    def run(body: str) -> str:
        folder = RunFolder.create(Path(tempfile.mkdtemp(dir=tmp_path)), "train-1")
        (folder.opt_ml("algo-1") / "output").mkdir(parents=True)
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        base = {"SM_CURRENT_HOST": "algo-1", "SAGEMAKER_BASE_DIR": str(folder.opt_ml("algo-1"))}
        with folder.log_file("algo-1").open("wb") as log:
            subprocess.run(
                [sys.executable, "-u", "-m", "smtc_lab.runtime.run_script", script],
                env={**os.environ, **base, "SMTC_RUN_ID": str(folder.path)},
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        return last_words(folder, "algo-1", None)

    return run


def test_the_words_of_argparse_are_told(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    values = {"work": 3, "api-token": "hf_abcdef", "note": "see pw-1234567"}
    job = make_job(
        ARGUMENTS,
        cluster="here=local:1",
        hyperparameters=values,
        environment={"DB_PASSWORD": "pw-1234567"},
    )

    run = start(job)
    with pytest.raises(RunFailedError):
        run.wait(60)
    reason = run.state.reason

    assert "exited with code 2" in reason
    lines = reason.splitlines()
    assert lines[0].endswith("SystemExit: 2. The last lines of its log:")
    assert lines[1:3] == ["begun", "usage: train.py [-h] [--lr LR]"]
    assert lines[3].startswith("train.py: error: unrecognized arguments:")
    assert "--work 3" in reason
    assert "hf_abcdef" not in reason
    assert "pw-1234567" not in reason


def test_each_failure_shows_the_last_lines_and_none_twice(words_of: WordsOf) -> None:
    crash = "import os; print('one\\ntwo', flush=True); os.kill(os.getpid(), 11)"

    crashed = words_of(crash)
    lines = words_of("raise ValueError('no file\\nnot there')")
    line = words_of("raise ValueError('no file')")

    assert crashed == "The last lines of its log:\none\ntwo"
    assert "ValueError: no file (train.py, line 1).\nThe last lines of its log:" in lines
    assert lines.endswith("\nValueError: no file\nnot there")
    assert line.endswith("ValueError: no file (train.py, line 1).")


def test_escapes_of_an_error_are_no_part_of_the_reason(words_of: WordsOf) -> None:
    body = r"raise ValueError('\x1b[1;31mtoo \x1b]8;;http://x\x07large\x1b[0m \x07\u202e')"

    reason = words_of(body)

    assert "ValueError: too large \ufffd\ufffd (train.py, line 1)." in reason


def test_a_long_line_is_cut_and_silence_adds_nothing(words_of: WordsOf) -> None:
    body = "print('x' * 900 + '!')\nraise SystemExit(7)"

    reason = words_of(body)
    silent = words_of("raise SystemExit(8)")

    assert f"SystemExit: 7. The last line of its log: {'x' * 300}." in reason
    assert silent.endswith("SystemExit: 8.")


def test_required_arguments_that_are_missing_are_advised_as_hyperparameters(
    words_of: WordsOf,
) -> None:
    body = (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--depth', required=True)\nparser.parse_args()"
    )

    reason = words_of(body)

    assert "error: the following arguments are required: --depth" in reason
    assert reason.endswith(
        "set each as a hyperparameter, with --hyperparameter NAME=VALUE or in the form."
    )
