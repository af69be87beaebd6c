"""The reason of a run whose script ended itself with a code holds what the script said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

ARGUMENTS = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    print("begun")
    parser.parse_args()
"""
HERE = "here=local:1"


def reason_of(run: Run) -> str:
    run._launcher.wait(run.handle, 60)
    return run.state.reason


def test_the_words_of_argparse_are_told(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    values = {"work": 3, "api-token": "hf_abcdef", "note": "see pw-1234567"}
    job = make_job(
        ARGUMENTS,
        cluster=HERE,
        hyperparameters=values,
        environment={"DB_PASSWORD": "pw-1234567"},
    )

    reason = reason_of(start(job))

    assert "exited with code 2" in reason
    lines = reason.splitlines()
    assert lines[0].endswith("SystemExit: 2. The last lines of its log:")
    assert lines[1:3] == ["begun", "usage: train.py [-h] [--lr LR]"]
    assert lines[3].startswith("train.py: error: unrecognized arguments:")
    assert "--work 3" in reason
    assert "hf_abcdef" not in reason
    assert "pw-1234567" not in reason


def test_each_failure_shows_the_last_lines_and_none_twice(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    crash = "import os; print('one\\ntwo', flush=True); os.kill(os.getpid(), 11)"

    crashed = reason_of(start(make_job(crash, cluster=HERE)))
    lines = reason_of(start(make_job("raise ValueError('no file\\nnot there')", cluster=HERE)))
    line = reason_of(start(make_job("raise ValueError('no file')", cluster=HERE)))

    assert crashed.endswith("in its log. The last lines of its log:\none\ntwo")
    assert "ValueError: no file (train.py, line 1).\nThe last lines of its log:" in lines
    assert lines.endswith("\nValueError: no file\nnot there")
    assert line.endswith("ValueError: no file (train.py, line 1).")


def test_escapes_of_an_error_are_no_part_of_the_reason(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    body = r"raise ValueError('\x1b[1;31mtoo \x1b]8;;http://x\x07large\x1b[0m \x07\u202e')"

    reason = reason_of(start(make_job(body, cluster=HERE)))

    assert "ValueError: too large \ufffd\ufffd (train.py, line 1)." in reason


def test_a_long_line_is_cut_and_silence_adds_nothing(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    body = "print('x' * 900 + '!')\nraise SystemExit(7)"

    reason = reason_of(start(make_job(body, cluster=HERE)))
    silent = reason_of(start(make_job("raise SystemExit(8)", cluster=HERE)))

    assert f"SystemExit: 7. The last line of its log: {'x' * 300}." in reason
    assert silent.endswith("SystemExit: 8.")


def test_required_arguments_that_are_missing_are_advised_as_hyperparameters(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    body = (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--depth', required=True)\nparser.parse_args()"
    )

    reason = reason_of(start(make_job(body, cluster=HERE)))

    assert "error: the following arguments are required: --depth" in reason
    assert reason.endswith(
        "set each as a hyperparameter, with --hyperparameter NAME=VALUE or in the form."
    )
