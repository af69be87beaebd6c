from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.local import launcher as local
from smtc_lab.launchers.run import Run, launch
from smtc_lab.machine.processes import processes_with_variable
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.state import RunState, write_state
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder
from tests.kit.runs import PATIENCE_S, processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.kit.run_folders import WriteRun

    SmtcLab = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("home")

PROGRAM = Path(sysconfig.get_path("scripts")) / "smtc-lab"


@pytest.fixture
def sleeper(home: Path) -> Iterator[Run]:
    script = home / "sleeper.py"
    script.write_text("import time; time.sleep(600)", encoding="utf-8")
    run = launch(
        TrainingJob(
            entry_point=str(script), cluster=Cluster.parse("a=local:1"), job_name="sleeper-1"
        )
    )
    yield run
    run.stop()


def test_without_runs_the_list_says_how_to_start_one(smtc_lab: SmtcLab, home: Path) -> None:
    said = smtc_lab("runs")

    assert said.exit_code == 0
    assert said.out == f"No runs in {home}/runs. Start one with 'smtc-lab compare'.\n"
    assert json.loads(smtc_lab("runs", "--json").out) == []


def test_a_failed_run_is_shown_with_its_reason(smtc_lab: SmtcLab, home: Path) -> None:
    records = run_records([], cluster="a=local:1", job_name="failing")
    folder = write_run_folder(home / "runs", records, usd_per_hour=None)
    opened(folder)
    failed = RunState(state="Failed", reason="It exited with code 4.", exit_codes={"algo-1": 4})
    write_state(folder, failed)
    folder.log_file("algo-1").write_text("no such file\n", encoding="utf-8")

    shown = smtc_lab("runs", "show", "failing", "--log")

    assert shown.exit_code == 0
    assert shown.out.startswith("failing: Failed\n")
    assert "exited with code 4" in shown.out
    assert "steps      none measured" in shown.out
    assert "evidence   measured on this machine" in shown.out
    assert "cost       none: on this machine, nothing is billed" in shown.out
    assert "algo-1 | no such file" in shown.out
    values = json.loads(smtc_lab("runs", "show", "failing", "--json").out)
    assert (values["state"], values["exit_codes"]) == ("Failed", {"algo-1": 4})
    assert values["usd_per_job"] is None


def test_a_run_is_stopped_by_the_begin_of_its_name(smtc_lab: SmtcLab, sleeper: Run) -> None:
    wait_until(lambda: "sleeper-1  Running" in smtc_lab("runs").out, what="the start")

    said = smtc_lab("runs", "stop", "sleeper")

    assert said.exit_code == 0
    assert said.out == "sleeper-1: Stopped. The run was stopped by its user.\n"
    assert processes_after(sleeper.folder.path) == {}
    assert smtc_lab("runs", "stop", "sleeper-1").out == said.out


def test_the_newest_runs_are_listed_last(smtc_lab: SmtcLab, ended_run: WriteRun) -> None:
    for number in range(3):
        run = ended_run(f"run-{number}")
        os.utime(run.folder.job_file, (number, number))

    names = [line.split()[0] for line in smtc_lab("runs", "-n", "2").out.splitlines()[1:]]

    assert names == ["run-1", "run-2"]
    assert smtc_lab("runs", "-n", "0").exit_code == 2


def test_another_folder_of_runs_may_be_named_before_or_after_the_command(
    smtc_lab: SmtcLab, ended_run: WriteRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run("elsewhere")
    root = run.folder.path.parent
    monkeypatch.setenv("SMTC_LAB_HOME", "/nowhere")

    for arguments in (
        ["runs", "--runs-dir", root],
        ["runs", "--runs-dir", root, "show", "elsewhere"],
        ["runs", "show", "elsewhere", "--runs-dir", root],
        ["runs", "stop", "elsewhere", "--runs-dir", root],
        ["runs", "show", run.folder.path],
    ):
        assert "elsewhere" in smtc_lab(*arguments).out
    assert smtc_lab("runs", "show", "elsewhere").exit_code == 1


def test_a_damaged_run_does_not_hide_the_others(smtc_lab: SmtcLab, ended_run: WriteRun) -> None:
    ended_run("good")
    state_file = ended_run("bad").folder.state_file
    whole = state_file.read_bytes()
    state_file.write_bytes(whole[:20])

    listed = smtc_lab("runs")

    assert listed.exit_code == 0
    assert "good  Completed" in listed.out
    assert "bad   damaged: The state of run 'bad' cannot be read" in listed.out
    rows = {row["job_name"]: row for row in json.loads(smtc_lab("runs", "--json").out)}
    assert rows["good"]["state"] == "Completed"
    assert "cannot be read" in rows["bad"]["damaged"]
    assert smtc_lab("runs", "show", "bad").exit_code == 1
    state_file.write_bytes(whole)


def test_a_reader_that_goes_away_gets_no_traceback(ended_run: WriteRun, home: Path) -> None:
    ended_run("a-run")
    read_end, write_end = os.pipe()
    os.close(read_end)

    ended = subprocess.run(
        [PROGRAM, "runs"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "SMTC_LAB_HOME": str(home)},
    )
    os.close(write_end)

    assert ended.stderr == ""
    assert ended.returncode == 1


@pytest.fixture
def comparison(home: Path) -> Iterator[ComparisonRun]:
    script = home / "sleeper.py"
    script.write_text("import time; time.sleep(600)", encoding="utf-8")
    jobs = [
        TrainingJob(entry_point=str(script), cluster=Cluster.parse(f"{name}@a=local:1"))
        for name in ("one", "other")
    ]
    comparison = launch_comparison(jobs, rounds=1)
    yield comparison
    comparison.stop()


def test_a_comparison_is_listed_beside_its_launches_shown_and_stopped(
    smtc_lab: SmtcLab, comparison: ComparisonRun
) -> None:
    wait_until(lambda: comparison.state.runs, what="the first launch")
    name = comparison.name

    rows = {row["job_name"]: row for row in json.loads(smtc_lab("runs", "--json").out)}
    assert rows[name]["kind"] == "comparison"
    assert rows[name]["cluster"] == "comparison of one, other"
    assert {row["kind"] for row in rows.values()} == {"run", "comparison"}
    listed = smtc_lab("runs").out
    assert f"{name}  Running" in listed
    assert "comparison of one, other, 1 launch" in listed
    assert not any(f"{run.job_name}  " in listed for run in comparison.runs)
    assert {row.get("study") for row in rows.values() if row["kind"] == "run"} == {name}
    assert smtc_lab("runs", "show", name[:-4]).out.startswith(name)
    assert "Too early to tell" in smtc_lab("runs", "show", name).out
    shown = json.loads(smtc_lab("runs", "show", name, "--json").out)
    assert (shown["state"], shown["comparison"]) == ("InProgress", None)
    assert shown["runs"] == [run.job_name for run in comparison.runs]

    said = smtc_lab("runs", "stop", name)

    assert said.out == f"{name}: Stopped. The comparison was stopped by its user.\n"


def test_a_damaged_comparison_does_not_hide_the_others(
    smtc_lab: SmtcLab, ended_run: WriteRun, home: Path
) -> None:
    ended_run("good")
    bad = home / "comparisons" / "bad"
    bad.mkdir(parents=True)
    (bad / "request.json").write_text("{", encoding="utf-8")

    listed = smtc_lab("runs").out

    assert "good  Completed" in listed
    assert "bad   damaged: What comparison 'bad' was asked to do cannot be read" in listed


@pytest.fixture
def orphan(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """Return a process of a run whose supervisor is gone; the sweep sees nothing else."""
    run_id = str(home / "runs" / "lost-run")

    def only_ours(name: str, value: str | None = None) -> dict[int, str]:
        found = processes_with_variable(name, value)
        return {pid: text for pid, text in found.items() if text == run_id}

    monkeypatch.setattr(local, "processes_with_variable", only_ours)
    with subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"],
        env={**os.environ, RUN_VARIABLE: run_id},
    ) as process:
        # A new program has no environment for a moment after its parent goes on.
        wait_until(lambda: process.pid in only_ours(RUN_VARIABLE), what="its environment")
        yield process
        process.kill()


def test_sweep_finds_what_a_lost_run_left_and_ends_it_when_told_to(
    smtc_lab: SmtcLab, orphan: subprocess.Popen[bytes]
) -> None:
    found = smtc_lab("runs", "sweep")
    assert found.exit_code == 0
    assert found.out.startswith("lost-run: ")
    assert found.out.endswith(f"still there ({orphan.pid})\n")
    assert orphan.poll() is None

    ended = smtc_lab("runs", "sweep", "--stop")
    assert ended.out.endswith(f"ended ({orphan.pid})\n")
    assert orphan.wait(PATIENCE_S) < 0

    assert smtc_lab("runs", "sweep").out == "Nothing is left of any run.\n"
