"""``%smtc`` in a shell of IPython's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.commands import COMMANDS
from smtc_lab.views.magics import run_line
from smtc_lab.views.run_list import RunList
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from IPython.core.interactiveshell import InteractiveShell

    from tests.kit.run_folders import WriteRun

ENDLESS = "import time; time.sleep(600)"


def test_a_file_runs_with_the_options_of_a_cell(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("import sys; print(sys.argv[1:])", encoding="utf-8")

    run = shell.run_line_magic(
        "smtc", "run -p lr=0.5 --wait --into mine -- train.py --dummy 'a b'"
    )

    assert isinstance(run, Run)
    assert (run.status, run.job.entry_point) == ("Completed", "train.py")
    assert shell.user_ns["mine"] is run
    assert "['--lr', '0.5', '--dummy', 'a b']" in capsys.readouterr().out


def test_the_newest_runs_are_listed_first(home: Path, ended_run: WriteRun) -> None:
    for number in range(3):
        run = ended_run(f"run-{number}", root=home / "runs")
        os.utime(run.folder.job_file, (number, number))

    listed = run_line("runs -n 2", {})

    assert isinstance(listed, RunList)
    assert [row["job_name"] for row in listed.rows] == ["run-2", "run-1"]
    assert [line.split()[0] for line in repr(listed).splitlines()] == ["run", "run-2", "run-1"]


def test_a_run_is_deleted_once_that_was_confirmed(
    home: Path,
    ended_run: WriteRun,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = ended_run("done-1", root=home / "runs")
    asked: list[str] = []
    answers = iter(["", "n", "y"])
    monkeypatch.setattr(
        "builtins.input", lambda question: (asked.append(question), next(answers))[1]
    )

    run_line("delete done-1", {})
    run_line("delete done-1", {})
    assert run.folder.path.is_dir()
    assert capsys.readouterr().out == ""
    run_line("delete done-1", {})

    assert asked == ["Delete done-1 for good? [y/N]: "] * 3
    assert not run.folder.path.exists()
    assert capsys.readouterr().out == "done-1: deleted.\n"


def test_a_comparison_is_shown_stopped_and_deleted_where_nobody_can_be_asked(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "--cluster one@a=local:1 --cluster two@b=local:1"
    comparison = shell.run_cell_magic("smtc", line, ENDLESS)
    wait_until(lambda: comparison.state.runs, what="the first launch")
    with pytest.raises(CellError, match=r"delete: '.*' still goes on.* Stop it first\.$"):
        run_line(f"delete --yes {comparison.name}", {})
    assert isinstance(run_line(f"show {comparison.name}", {}), ComparisonRun)
    run_line(f"stop {comparison.name}", {})
    assert comparison.status == "Stopped"
    assert f"{comparison.name}: Stopped." in capsys.readouterr().out
    what = f"{comparison.name} with all launches"
    with pytest.raises(CellError, match=f"whether to delete {what}. Add --yes."):
        run_line(f"delete {comparison.name}", {})

    run_line(f"delete --yes {comparison.name}", {})

    told = f"{comparison.name}: deleted with 1 launch.\n"
    assert capsys.readouterr().out.endswith(told)
    assert find_runs() == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fly", "there is no command 'fly'. See %smtc --help"),
        ("shwo digits", "there is no command 'shwo'. Did you mean %smtc show?"),
        ("show", "takes the name of one run, or its begin, but got ''. See %smtc runs"),
        ("stop --all", "but got '--all'"),
        ("stop digits", "There is no run named 'digits'"),
        ("delete", "%smtc delete: no name is given. See %smtc runs."),
        ("delete -y digits", "There is no run named 'digits'"),
        ("delete -y digits --force", "unrecognized arguments: --force"),
        ("runs -n 0", "-n 0 would list nothing"),
        ("runs -n few", "invalid int value: 'few'"),
        ("run", "no file is named"),
        ("run nowhere.py", "nowhere.py"),
        ("run train.txt", "not the path of a Python file"),
        ("run 'train.py", "No closing quotation"),
    ],
)
def test_what_is_wrong_is_said_with_the_next_step(line: str, message: str) -> None:
    with pytest.raises(CellError) as told:
        run_line(line, {})

    assert message in str(told.value)
    assert str(told.value).startswith("%smtc")


@pytest.mark.parametrize("line", ["", "--help", "-h"])
def test_help_names_the_commands_and_the_options_of_a_cell(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    assert shell.run_line_magic("smtc", line) is None

    printed = capsys.readouterr().out
    for word in (*COMMANDS, "%%smtc runs a cell", "--cluster"):
        assert word in printed
    shell.run_line_magic("smtc", "runs --help")
    shell.run_line_magic("smtc", "run --help")
    assert "FILE.py" in capsys.readouterr().out
