"""The sbatch script really run, with real processes, where Slurm's two programs are stand-ins.

``scontrol`` and ``srun`` here are shell scripts: the first names the nodes, all of which are
this machine; the second runs its command as Slurm's would on a node. What they cannot show is
that Slurm takes the options, and passes standard input on to another machine.
"""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.render import slurm_start
from smtc_lab.launchers.render.render import render
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import SUPERVISOR_MACHINE, RunState, current_state, write_state
from tests.kit.joined_script import JOINED_SCRIPT, said_by_ranks
from tests.kit.quick_script import SERVED_SCRIPT, SERVES
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Submit = Callable[..., "subprocess.Popen[str]"]

SCONTROL = """\
#!/bin/bash
case "$1 $2" in
"show hostnames") tr , '\\n' <<< "$3" ;;
"show job") cat "$(dirname "$0")/job" ;;
esac
"""
SRUN = """\
#!/bin/bash
echo "$@" >> "$(dirname "$0")/asked"
while [ "${1#--}" != "$1" ]; do
    case "$1" in
    --nodelist="$SLURM_BROKEN") echo "srun: error: $SLURM_BROKEN is down" >&2; exit 1 ;;
    esac
    shift
done
exec "$@"
"""
NODES = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "127.86.1.1",
    "SLURM_JOB_NODELIST_HET_GROUP_0": "127.86.1.1",
    "SLURM_JOB_NODELIST_HET_GROUP_1": "127.86.1.2,127.86.1.3",
}
TELLS = """\
import os
seen = [name for name in os.environ if name.startswith(("SLURM_", "AWS_"))]
print(os.environ["SM_CURRENT_HOST"], *seen, flush=True)
"""
FOREVER = "import signal\nprint('begun', flush=True)\nsignal.pause()\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-ins where programs are looked for, and return their folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("scontrol", SCONTROL), ("srun", SRUN)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def submit(tmp_path: Path, programs: Path) -> Iterator[Submit]:
    """Run the script of a job as sbatch would; end it at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def run_script(job: TrainingJob, **variables: str) -> subprocess.Popen[str]:
        script = tmp_path / "job.sh"
        script.write_text(render(job, "slurm", root=tmp_path / "runs"), encoding="utf-8")
        process = subprocess.Popen(
            ["bash", script],
            cwd=programs,
            env={**os.environ, **NODES, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield run_script
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "demo-4711")


def test_the_end_of_the_trainers_completes_the_job_and_ends_the_data_group(
    make_job: MakeJob, submit: Submit, programs: Path, folder: RunFolder
) -> None:
    process = submit(make_job(TELLS + SERVED_SCRIPT, max_steps=20), AWS_PROFILE="work")

    said, _ = process.communicate(timeout=60)

    assert (process.returncode, said) == (0, f"{folder.path}: Completed.\n")
    run = Run.open(str(folder.path))
    assert run.status == "Completed"
    assert len(run.records().steps["algo-1-rank0"]) == 20
    assert run.logs("algo-1") == "algo-1\nbegun"
    assert run.logs("algo-3").startswith(f"smtc-lab: algo-3 {SERVES} ")
    assert processes_after(folder.path) == {}
    asked = sorted((programs / "asked").read_text("utf-8").splitlines())
    assert [line.partition(" bash -c ")[0] for line in asked] == [
        f"--het-group={group} --nodes=1 --ntasks=1 --nodelist={node} --cpus-per-task={cpus} "
        "--mem=0 --cpu-bind=none"
        for group, node, cpus in (
            (0, "127.86.1.1", 96),
            (1, "127.86.1.2", 72),
            (1, "127.86.1.3", 72),
        )
    ]


def test_a_script_that_fails_fails_the_job_with_its_reason(
    make_job: MakeJob, submit: Submit, programs: Path, folder: RunFolder
) -> None:
    process = submit(make_job("raise SystemExit(3)", cluster="dnn_group=ml.g5.xlarge:1"))

    said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "Failed. The entry point on algo-1 (dnn_group) exited with code 3." in said
    assert "--het-group" not in (programs / "asked").read_text("utf-8")
    assert processes_after(folder.path) == {}


def test_what_slurm_says_of_a_node_is_the_reason(
    make_job: MakeJob, submit: Submit, folder: RunFolder
) -> None:
    process = submit(make_job(FOREVER), SLURM_BROKEN="127.86.1.3")

    said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "algo-3 (data_group) exited with code 1." in said
    assert "srun: error: 127.86.1.3 is down" in said
    assert processes_after(folder.path) == {}


def test_scancel_stops_the_run(make_job: MakeJob, submit: Submit, folder: RunFolder) -> None:
    process = submit(make_job(FOREVER))
    wait_until(
        lambda: all(
            folder.log_file(f"algo-{n}").is_file()
            and word in folder.log_file(f"algo-{n}").read_text("utf-8")
            for n, word in ((1, "begun"), (2, SERVES), (3, SERVES))
        ),
        what="the begin of all instances",
    )

    process.send_signal(signal.SIGTERM)  # as Slurm does, 30 s before it kills
    process.communicate(timeout=60)

    assert process.returncode == 1
    assert current_state(folder).state == "Stopped"
    assert processes_after(folder.path) == {}


@pytest.mark.parametrize(
    ("machine", "state"), [("some-other-node", "InProgress"), (platform.node(), "Failed")]
)
def test_only_the_machine_of_a_supervisor_can_tell_that_it_is_gone(
    tmp_path: Path, machine: str, state: str
) -> None:
    folder = RunFolder.create(tmp_path / "runs", "demo-4711")
    gone = RunState(
        state="InProgress",
        supervisor_pid=2**22 + 1,
        supervisor_start_ticks=1,
        facts={SUPERVISOR_MACHINE: machine},
    )
    write_state(folder, gone)

    assert current_state(folder).state == state


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, r"SLURM_JOB_NODELIST_HET_GROUP_0 is not set.*2 instance groups.*sbatch"),
        (
            {**NODES, "SLURM_JOB_NODELIST_HET_GROUP_1": "127.86.1.2"},
            r"'data_group' has 2 instances, but Slurm gave it the nodes 127\.86\.1\.2",
        ),
    ],
)
@pytest.mark.usefixtures("programs")
def test_another_allocation_than_the_scripts_is_refused(
    make_job: MakeJob, tmp_path: Path, variables: dict[str, str], said: str
) -> None:
    with pytest.raises(LauncherError, match=said):
        slurm_start.run(make_job(), tmp_path / "runs", variables)

    assert not (tmp_path / "runs").exists()


def test_a_node_that_knows_itself_by_a_loopback_address_gets_one_that_others_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {"own": "127.0.1.1", "other": "10.1.2.3"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, *_: [(2, 1, 6, "", (known[name], 0))]
    )
    monkeypatch.setattr(slurm_start, "_own_address", lambda towards: f"way to {towards}")

    assert slurm_start._addresses(["own", "other"]) == ["way to 10.1.2.3", "10.1.2.3"]


def test_without_slurms_programs_the_error_names_them(
    make_job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(LauncherError, match=r"nodes '127\.86\.1\.1' are .*'scontrol' works"):
        slurm_start.run(make_job(), tmp_path / "runs", NODES)


def test_every_node_has_its_trainers_and_all_train_one_model(
    make_job: MakeJob, submit: Submit, folder: RunFolder
) -> None:
    job = make_job(JOINED_SCRIPT, cluster="train=ml.c5.9xlarge:2", distribution={"data": 4})
    process = submit(job, SLURM_JOB_NODELIST="127.86.1.1,127.86.1.2")

    said, _ = process.communicate(timeout=240)

    assert (process.returncode, said) == (0, f"{folder.path}: Completed.\n")
    ranks = said_by_ranks(Run.open(str(folder.path)).logs())
    assert [rank[:3] for rank in ranks] == [
        [0, "0", "0"],
        [1, "1", "0"],
        [2, "0", "1"],
        [3, "1", "1"],
    ]
    assert len({rank[3] for rank in ranks}) == 1
    assert processes_after(folder.path) == {}
