"""``%%smtc`` in a shell of IPython's own."""

from __future__ import annotations

import os
import signal
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import run_kernel

from smtc_lab.launchers.run import Run
from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.entry_point import saved_cell
from smtc_lab.views.magics import run_cell, run_line
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from IPython.core.interactiveshell import InteractiveShell

TIMED = """
from smtc_lab.runtime.instance_runtime import instance_runtime
timer = instance_runtime().timer
while not timer.is_done:
    timer.ask()
    timer.got(8)
    timer.end()
print("done")
"""

ENDLESS = "import time; time.sleep(600)\n"


def test_a_cell_gives_its_run_at_once_that_is_shown_and_stopped_by_the_begin_of_its_name(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shell.run_cell_magic("smtc", "--into slow", ENDLESS)

    assert isinstance(run, Run)
    assert run.status in {"Pending", "InProgress"}
    assert shell.user_ns["slow"] is run

    found = run_line("show cell-", {})
    run_line("stop cell-", {})

    assert isinstance(found, Run)
    assert found.job_name == run.job_name
    assert run.status == "Stopped"
    told = f"{run.job_name}: Stopped. The run was stopped by its user.\n"
    assert capsys.readouterr().out == told


def test_a_run_that_is_waited_for_has_ended_and_its_log_is_printed(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "beside.py").write_text("GREETING = 'from beside'\n", encoding="utf-8")
    cell = TIMED + "import sys, beside\nprint(beside.GREETING, sys.argv[1:])\n"
    shell.user_ns["steps"] = 5

    run = shell.run_cell_magic(
        "smtc", "--compiler eager --steps {steps} -p lr=0.5 --wait -- --dummy", cell
    )

    assert run.status == "Completed"
    assert run.job.compiler_config.backend == "eager"
    assert run.job.hyperparameters == {"lr": 0.5}
    assert sum(len(steps) for steps in run.records().steps.values()) == 5
    printed = capsys.readouterr().out
    assert "done" in printed
    assert "from beside ['--lr', '0.5', '--dummy']" in printed


def test_several_clusters_start_a_comparison_that_goes_on_by_itself(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = shell.run_cell_magic(
        "smtc",
        "--cluster one@a=local:1 --cluster two@b=local:1:train,c=local:1:data --steps 3",
        ENDLESS,
    )

    assert isinstance(comparison, ComparisonRun)
    assert [job.cluster.label for job in comparison.request.jobs] == ["one", "two"]
    assert capsys.readouterr().out.startswith("Caution: one takes its batches through torch")
    assert comparison.stop().status == "Stopped"


def test_several_compilers_that_are_waited_for_give_their_comparison() -> None:
    variables: dict[str, object] = {}

    outcome = run_cell(
        "--compiler eager,inductor --steps 20 --rounds 1 --no-parity --wait --into it",
        TIMED,
        variables,
    )

    assert isinstance(outcome, ComparisonOutcome)
    assert [item.name for item in outcome.comparison.clusters] == ["eager", "inductor"]
    assert variables == {"it": outcome}


def test_numbers_of_devices_make_a_scaling_study() -> None:
    line = "--cluster one@a=local:1 --devices {} --steps 5 --rounds 1 --wait"

    scaling = run_cell(line.format("1"), TIMED, {})

    assert isinstance(scaling, Scaling)
    assert [point.devices for point in scaling.curves[0].points] == [1]
    with pytest.raises(CellError, match="--devices 'some' are no whole numbers"):
        run_cell(line.format("some"), TIMED, {})


@pytest.mark.filterwarnings("default")  # jupyter_client's own
def test_a_failing_cell_is_an_error_of_one_line_that_names_its_line() -> None:
    told: list[dict[str, Any]] = []

    def keep(message: dict[str, Any]) -> None:
        if message["msg_type"] in {"error", "stream"}:
            told.append(message["content"])

    with run_kernel(kernel_name="python3") as client:
        client.execute_interactive("%load_ext smtc_lab", timeout=60)
        cell = "%%smtc --wait --into bad\n\nraise ValueError('no data')\n"
        reply = client.execute_interactive(cell, timeout=60, output_hook=keep)
        client.execute_interactive("print(bad.status)", timeout=60, output_hook=keep)

    assert reply["content"]["status"] == "error"  # papermill and "run all" stop here
    error, printed = told
    (line,) = error["traceback"]
    assert line.startswith("UsageError: %%smtc: Run 'cell-")
    assert "ValueError: no data (cell_" in line
    assert ".py, line 3)" in line
    assert printed["text"] == "Failed\n"


def test_an_interrupt_of_the_waiting_cell_stops_the_run(tmp_path: Path) -> None:
    variables: dict[str, Any] = {}
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    main = threading.get_ident()

    def interrupt_once_it_runs() -> None:
        begun.read_bytes()  # until the cell opens it
        wait_until(lambda: "run" in variables, what="the wait for it")
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt_once_it_runs, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run_cell(
            "--wait --into run", f"open({str(begun)!r}, 'w').close()\n{ENDLESS}", variables
        )

    assert variables["run"].status == "Stopped"
    assert processes_after(variables["run"].folder.path) == {}


def test_a_cell_is_kept_for_its_owner_only_and_is_written_once(home: Path) -> None:
    path = saved_cell("token = 'secret'\n")
    written_ns = path.stat().st_mtime_ns

    assert saved_cell("token = 'secret'\n") == path
    assert list((home / "runs" / "cells").iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == "# a cell of a notebook\ntoken = 'secret'\n"
    assert path.stat().st_mtime_ns == written_ns
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("--compiler eager", "  \n", "the cell is empty"),
        ("--compiler", "pass", "Option '--compiler' requires an argument"),
        ("--fly", "pass", "No such option.*--fly"),
        ("--steps many", "pass", "'many' is not a valid integer"),
        ("--compiler tpu", "pass", "tpu"),
        ("--steps 0", "pass", "max_steps=0 is outside"),
        ("-p lr", "pass", "Hyperparameter 'lr' has no '='"),
        ("--cluster nonsense", "pass", "'nonsense' is not of the form GROUP=TYPE"),
        ("--cluster a=ml.c5.9xlrge:1", "pass", "Did you mean ml.c5.9xlarge"),
        ("--compiler 'eager", "pass", "No closing quotation"),
        ("--into 2nd", "pass", "'2nd' is not the name of a variable"),
        ("--precision bf16", "pass", "--compiler names none"),
        ("--pipeline 2 --shard 2 --schedule dualpipev", "pass", "--shard 2"),
        ("--microbatches 2", "pass", "there is no pipeline that they go through"),
        ("--reduce-on auto", "pass", "--reduce-on was taken out"),
        ("--device-time 0.1", "pass", "without --cluster there is none"),
        ("--link between=1Gbit", "pass", "--link is part of an emulation"),
        ("--cluster a=ml.p3.2xlarge:2 --link fast", "pass", "'fast' names neither the network"),
        ("--compiler eager,inductor --rounds 0", "pass", "--rounds 0 would launch nothing"),
        ("", "\nx = 1\nif x\n    pass", "line 4 of the cell is not Python: expected ':'"),
        ("", "!pip install torch", "line 2 .* lines that begin with '!' or '%' mean nothing"),
        ("", "return 1", "line 2 of the cell is not Python: 'return' outside function"),
        ("", "x = '\0'", "a character that no Python file may hold"),
        ("", "x = '\ud800'", "a character that no Python file may hold"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_started(
    line: str, cell: str, message: str
) -> None:
    with pytest.raises(CellError, match=message):
        run_cell(line, cell, {})

    assert find_runs() == []


def test_a_syntax_error_does_not_print_what_the_cell_holds() -> None:
    with pytest.raises(CellError) as told:
        run_cell("", "token = 'a secret\n", {})

    assert "line 2 of the cell is not Python" in str(told.value)
    assert "secret" not in str(told.value)


def test_help_names_the_options(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run_cell_magic("smtc", "--help", "pass") is None

    printed = capsys.readouterr().out
    assert printed.startswith("Usage: %%smtc")
    for option in (
        "--compiler",
        "--cluster",
        "--steps",
        "-p",
        "--fallback",
        "--wait",
        "--into",
    ):
        assert option in printed
    assert "--cluster" in shell.find_cell_magic("smtc").__doc__
