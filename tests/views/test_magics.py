"""``%%smtc`` in a shell of IPython's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from smtc_lab.launch.compare import ComparisonOutcome
from smtc_lab.launch.run import Run
from smtc_lab.views.magics import run_cell

if TYPE_CHECKING:
    from pathlib import Path

TIMED = """
from smtc_lab.runtime.instance_runtime import instance_runtime
timer = instance_runtime().timer
while not timer.is_done:
    timer.ask()
    timer.got(8)
    timer.end()
print("done")
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def shell() -> InteractiveShell:
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    shell.run_line_magic("load_ext", "smtc_lab")
    return shell


def test_a_cell_runs_as_a_job_and_gives_its_run(
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("GREETING = 'from beside'\n", encoding="utf-8")
    cell = TIMED + "import sys, beside\nprint(beside.GREETING, sys.argv[1:])\n"

    run = shell.run_cell_magic("smtc", "--compiler eager --steps 5 -p lr=0.5", cell)

    assert isinstance(run, Run)
    assert run.status == "Completed"
    assert run.job.compiler_config is not None
    assert run.job.compiler_config.backend == "eager"
    assert run.job.hyperparameters == {"lr": 0.5}
    assert sum(len(steps) for steps in run.records().steps.values()) == 5
    printed = capsys.readouterr().out
    assert "done" in printed
    assert "from beside ['--lr', '0.5']" in printed


def test_several_compilers_are_compared() -> None:
    outcome = run_cell("--compiler eager,inductor --steps 20 --rounds 1 --no-parity", TIMED)

    assert isinstance(outcome, ComparisonOutcome)
    assert [item.name for item in outcome.comparison.clusters] == ["eager", "inductor"]


def test_a_failing_cell_says_why_in_one_message() -> None:
    with pytest.raises(UsageError, match=r"ValueError: no data \(cell_.*\.py, line 3\)"):
        run_cell("", "\nraise ValueError('no data')\n")


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("--compiler eager", "  \n", "the cell is empty"),
        ("--compiler", "pass", "expected one argument"),
        ("--fly", "pass", "unrecognized arguments: --fly"),
        ("--steps many", "pass", "invalid int value: 'many'"),
        ("--compiler tpu", "pass", "tpu"),
        ("--steps 0", "pass", "max_steps=0 is outside"),
        ("-p lr", "pass", "Hyperparameter 'lr' has no '='"),
        ("--cluster nonsense", "pass", "'nonsense' is not of the form GROUP=TYPE"),
        ("--compiler 'eager", "pass", "No closing quotation"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_started(
    line: str, cell: str, message: str, home: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        run_cell(line, cell)

    assert not list(home.glob("runs/*/job.json"))


def test_help_names_the_options(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run_cell_magic("smtc", "--help", "pass") is None
    shell.run_line_magic("smtc", "--help")

    printed = capsys.readouterr().out
    assert printed.count("usage: %%smtc") == 2
    for option in ("--compiler", "--cluster", "--steps", "-p", "--fallback", "--no-parity"):
        assert option in printed
