from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.examples import example
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import current_state
from smtc_lab.views.run_list import run_rows
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    SmtcLab = Callable[..., Any]

PROGRAM = Path(sysconfig.get_path("scripts")) / "smtc-lab"
ALONE = "dnn_group=ml.p3.2xlarge:1"


def test_a_plain_script_is_compared_and_its_run_can_be_looked_at(
    smtc_lab: SmtcLab, home: Path
) -> None:
    said = smtc_lab(
        *("compare", "--cluster", f"alone@{ALONE}", "--rounds", "1", "--steps", "40"),
        *("--device-time", "0.002", "--price", "ml.p3.2xlarge=3.6@2024-01-02"),
        *("-p", "batch-size=16", "--seed", "5"),
        *("--json", home / "new" / "comparison.json", "--report", home / "report.html"),
        example("plain_loop"),
    )
    assert said.exit_code == 0, said.err

    comparison = Comparison.from_json((home / "new" / "comparison.json").read_bytes())
    (cluster,) = comparison.clusters
    assert comparison.evidence == "emulated"
    assert (cluster.name, cluster.launches) == ("alone", 1)
    assert cluster.steps + sum(cluster.warm_up_steps) == 40
    assert cluster.usd_per_hour == 3.6
    assert cluster.instance_groups[0].price_date == "2024-01-02"
    assert 0 < cluster.data_wait_fraction < 1
    assert cluster.step_time_s.mean >= 0.002
    assert "alone" in said.out
    assert "emulated" in said.out
    assert f"Comparison: {home / 'new' / 'comparison.json'}" in said.out
    assert "This takes at least " in said.err
    assert "launch 1 of 1: alone" in said.err
    assert (home / "report.html").stat().st_size > 10_000

    look_at_the_run(smtc_lab, home, comparison)


def look_at_the_run(smtc_lab: SmtcLab, home: Path, comparison: Comparison) -> None:
    (folder,) = find_runs()
    name = folder.job_name
    assert comparison.clusters[0].runs == (name,)

    listed = smtc_lab("runs").out.splitlines()
    assert listed[0].split() == ["run", "state", "started", "took", "cluster"]
    assert listed[1].endswith("  comparison of alone, 1 launch")
    assert len(listed) == 2
    study, row = json.loads(smtc_lab("runs", "--json").out)
    assert (study["kind"], study["state"]) == ("comparison", "Completed")
    assert comparison.verdict in smtc_lab("runs", "show", study["job_name"]).out
    assert (row["job_name"], row["state"]) == (name, "Completed")
    assert row["exit_codes"] == {"algo-1": 0}

    values = json.loads(smtc_lab("runs", "show", name, "--json").out)
    assert values["usd_per_job"] > 0
    bill = values["bill"]
    steps_here_s = bill["steps_s"] * comparison.emulation["time_dilation"]
    assert bill["startup_s"] + steps_here_s + bill["end_s"] == pytest.approx(bill["billed_s"])
    assert (bill["startup_usd"], bill["end_usd"]) == (None, None)
    shown = smtc_lab("runs", "show", name[: len("plain-loop-alone")], "--log").out
    assert shown.startswith(f"{name}: Completed\n")
    for words in (
        f"cluster    {ALONE}",
        f"script     {example('plain_loop')}",
        "evidence   emulated, cluster time (1 s of it took ",
        " s here), declared device time 2 ms per step",
        "measured, ",
        "s mean, data wait ",
        f"cost       ${bill['steps_usd']:.4f} at $3.6/h, its steps alone",
        "of that    start-up ",
        "are this machine's own seconds: they have no price",
        f"folder     {home / 'runs' / name}",
    ):
        assert words in shown
    assert values["evidence"] == "emulated"
    assert values["steps"] == comparison.clusters[0].steps
    assert values["mean_step_time_s"] == pytest.approx(comparison.clusters[0].step_time_s.mean)


def test_a_failing_script_is_a_failed_run_behind_what_was_said_before_its_launch(
    smtc_lab: SmtcLab, home: Path
) -> None:
    script = home / "train.py"
    script.write_text("raise ValueError('no data')", encoding="utf-8")
    alone = "alone@dnn_group=ml.c5.xlarge:1"
    fed = "fed@dnn_group=ml.c5.xlarge:1:train,data_group=ml.c5.xlarge:1:data"

    said = smtc_lab(
        *("compare", "--cluster", alone, "--cluster", fed),
        *("--rounds", "1", "--steps", "5", "--json", home / "comparison.json", script),
    )

    assert said.exit_code == 1
    assert said.out == ""
    caution = "Caution: alone takes its batches through torch's own dataloader and fed, which"
    assert said.err.startswith(caution)
    assert said.err.count("Caution: ") == 1
    assert "Error: Launch 1 of 2 (alone) ended as Failed." in said.err
    assert "ValueError: no data (train.py, line 1)" in said.err
    assert "Traceback" not in said.err
    assert not (home / "comparison.json").exists()
    (folder,) = find_runs()
    (study, *_) = json.loads(smtc_lab("runs", "--json").out)
    shown = smtc_lab("runs", "show", study["job_name"]).out
    assert f"  run {folder.job_name}: Failed (alone, round 1)\n" in shown


def test_ctrl_c_stops_what_runs(home: Path) -> None:
    script = home / "train.py"
    script.write_text("import time\nprint('working', flush=True)\ntime.sleep(600)\n", "utf-8")
    with subprocess.Popen(
        [PROGRAM, "compare", "--cluster", ALONE, "--steps", "5", "--quiet", script],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SMTC_LAB_HOME": str(home)},
    ) as command:
        wait_until(lambda: find_runs(home / "runs"), what="the start of a run")
        (folder,) = find_runs(home / "runs")
        log = folder.log_file("algo-1")
        wait_until(
            lambda: log.is_file() and "working" in log.read_text(encoding="utf-8"),
            what="the start of the script",
        )
        command.send_signal(signal.SIGINT)
        said = command.communicate()[1]

    assert command.returncode == 130
    assert said.strip() == "Interrupted. What ran was stopped."
    assert processes_after(folder.path) == {}
    assert current_state(folder).state == "Stopped"
    (row,) = (row for row in run_rows(home / "runs", last=9) if row["kind"] == "comparison")
    assert (row["state"], row["reason"]) == (
        "Stopped",
        "The comparison was stopped by its user.",
    )


def test_one_device_is_compared_with_two(smtc_lab: SmtcLab, home: Path) -> None:
    (home / "train.py").write_text(QUICK_SCRIPT, encoding="utf-8")

    said = smtc_lab(
        *("compare", "--cluster", "here=local", "--data", "1,2", "--rounds", "1"),
        *("--steps", "3", "--json", home / "comparison.json", home / "train.py"),
    )

    assert said.exit_code == 0, said.err
    assert said.out.splitlines()[0].endswith(", measured")
    result = Comparison.from_json((home / "comparison.json").read_bytes())
    assert [cluster.name for cluster in result.clusters] == ["one trainer", "data 2"]
    trainers = [cluster.spread.trainers for cluster in result.clusters if cluster.spread]
    assert trainers == [1, 2]
    (row,) = (line for line in said.out.splitlines() if line.startswith("trainers "))
    assert row.split()[1:] == ["1", "2:", "data", "2"]
    (study, *_) = json.loads(smtc_lab("runs", "--json").out)
    assert "trainers: 1 | 2: data 2" in smtc_lab("runs", "show", study["job_name"]).out
    shown = smtc_lab("runs", "show", result.clusters[0].runs[0]).out
    assert "evidence   measured on this machine" in shown
