"""What stands behind a script and ``--`` is the script's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

HERE = ("compare", "--cluster", "here=local:1", "--no-emulation", "--rounds", "1")
OWN = ("--dummy", "--lr", "0.1", "data folder")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(f"import sys\nprint(sys.argv[1:])\n{QUICK_SCRIPT}", encoding="utf-8")
    return path


def test_a_script_gets_its_own_arguments_and_the_variables_that_are_given(
    smtc_lab: SmtcLab, home: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA_DIR", "MODE", "ANOTHER_TOKEN"):
        monkeypatch.setenv(name, f"here {name}")
    told = "print([os.environ.get(n) for n in ('DATA_DIR', 'MODE', 'ANOTHER_TOKEN')])"
    script.write_text(f"import os\n{told}\n{script.read_text()}", encoding="utf-8")
    given = ("-p", "depth=2", "--steps", "12", "--env", "DATA_DIR", "-e", "MODE=a=b")
    given = (*given, "--metric", r"lr='--lr', '([0-9.]+)'", "--metric", r"d=--depth', '(\d)'")

    said = smtc_lab(*HERE, *given, "--json", home / "it.json", "--", script, *OWN)

    assert said.exit_code == 0, said.err
    (folder,) = find_runs()
    run = Run.open(folder.job_name)
    assert str(["--depth", "2", *OWN]) in run.logs()
    assert "['here DATA_DIR', 'a=b', None]" in run.logs()
    assert run.metrics().last == {"lr": 0.1, "d": 2.0}
    shown = smtc_lab("runs", "show", run.job_name).out
    assert f"script     {script} --dummy --lr 0.1 'data folder'\n" in shown
    assert '"arguments":' in (home / "it.json").read_text()


def test_a_metric_without_an_expression_is_refused_with_all_the_rest(
    smtc_lab: SmtcLab, script: Path
) -> None:
    wrong = ("--metric", "loss", "--metric", "lr=lr ")

    said = smtc_lab(*HERE, *wrong, "--", script)

    assert said.exit_code != 0
    assert "--metric 'loss' has no regular expression. Write for example" in said.err
    assert "'lr' has the Regex 'lr ' with 0 groups" in said.err


def test_a_script_may_stand_before_the_dashes_as_behind_them(
    smtc_lab: SmtcLab, script: Path
) -> None:
    options = ("render", "--cluster", "a=ml.p3.2xlarge:1", "--to", "slurm")

    before = smtc_lab(*options, script, "--", *OWN)

    assert before == smtc_lab(*options, "--", script, *OWN)
    assert (before.exit_code, "data folder" in before.out) == (0, True)
