"""A spot job that Slurm takes the nodes of, and starts again, goes on in its folder."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.launchers.render.render import render
from smtc_lab.launchers.run import Run
from smtc_lab.spec.spot import Market
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import current_state, read_state
from tests.kit.runs import processes_after, wait_until
from tests.launchers.render.test_slurm_start import programs, submit
from tests.launchers.test_attempts import TRAINING, check_whole, steps_of, weights_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Submit = Callable[..., "subprocess.Popen[str]"]

__all__ = ["programs", "submit"]

CLUSTER = "dnn_group=ml.g5.xlarge:1"
RUNS = "JobId=4711 JobName=demo\n   JobState=RUNNING Requeue=1 Restarts=0 PreemptTime=None\n"
IS_REQUEUED = RUNS.replace("RUNNING", "COMPLETING").replace("Restarts=0", "Restarts=1")
IS_CANCELLED = RUNS.replace("RUNNING", "COMPLETING")
IS_PREEMPTED = RUNS.replace("PreemptTime=None", "PreemptTime=2026-11-27T12:00:00")


@pytest.fixture
def spot_job(make_job: MakeJob) -> TrainingJob:
    return make_job(TRAINING, cluster=CLUSTER, use_spot_instances=True)


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[[], Run]:
    return lambda: Run.open(str(tmp_path / "runs" / "demo-4711"))


@pytest.fixture
def begun(
    spot_job: TrainingJob, submit: Submit, programs: Path, run_of: Callable[[], Run]
) -> subprocess.Popen[str]:
    """Return a spot job that has trained for some steps."""
    (programs / "job").write_text(RUNS, encoding="utf-8")
    process = submit(spot_job)
    folder = RunFolder(programs.parent / "runs" / "demo-4711")
    wait_until(folder.rank_records("algo-1", 0).is_file, what="a record", limit_s=60)
    wait_until(lambda: steps_of(run_of()) >= 12, what="steps", limit_s=60)
    return process


@pytest.mark.timeout(240)
@pytest.mark.parametrize("is_told", [True, False])
def test_a_requeued_job_goes_on_in_its_folder(  # noqa: PLR0913  fixtures
    begun: subprocess.Popen[str],
    spot_job: TrainingJob,
    submit: Submit,
    programs: Path,
    run_of: Callable[[], Run],
    *,
    is_told: bool,
) -> None:
    (programs / "job").write_text(IS_REQUEUED, encoding="utf-8")
    begun.send_signal(signal.SIGTERM if is_told else signal.SIGKILL)
    begun.wait(60)
    run = run_of()
    wait_until(lambda: processes_after(run.folder.path) == {}, what="the end of the agents")
    if is_told:
        assert run.state.word == "Interrupted"
        assert not run.state.is_terminal
    again = submit(spot_job, SLURM_RESTART_COUNT="1", SLURM_JOB_NODELIST="127.86.1.9")
    said, _ = again.communicate(timeout=120)

    assert (again.returncode, said) == (0, f"{run.folder.path}: Completed.\n")
    check_whole(run, attempts=2)
    assert run.state.attempts[0].interrupted_by.startswith("Slurm t")
    assert run.state.attempts[0].ended_s is not None
    assert run.state.attempts[1].started_s >= run.state.attempts[0].ended_s
    whole = submit(spot_job, SLURM_JOB_ID="4712")
    whole.communicate(timeout=120)
    assert weights_of(run) == weights_of(Run.open(str(run.folder.path.with_name("demo-4712"))))
    done = submit(spot_job, SLURM_RESTART_COUNT="2")
    assert done.communicate(timeout=60)[0] == said
    assert len(run.state.attempts) == 2


@pytest.mark.timeout(120)
def test_scancel_ends_a_spot_job_for_good(
    begun: subprocess.Popen[str], programs: Path, run_of: Callable[[], Run]
) -> None:
    (programs / "job").write_text(IS_CANCELLED, encoding="utf-8")
    begun.send_signal(signal.SIGTERM)
    begun.communicate(timeout=60)

    assert current_state(run_of().folder).state == "Stopped"


@pytest.mark.timeout(120)
def test_agents_that_slurm_ends_on_its_notice_are_no_failure(
    begun: subprocess.Popen[str], programs: Path, run_of: Callable[[], Run]
) -> None:
    (programs / "job").write_text(IS_PREEMPTED, encoding="utf-8")
    run = run_of()
    (agent,) = (
        pid
        for pid, command in processes_after(run.folder.path, limit_s=0.0).items()
        if "smtc_lab.runtime.agent" in command
    )
    os.kill(agent, signal.SIGTERM)
    said, _ = begun.communicate(timeout=60)

    assert said == f"{run.folder.path}: InProgress.\n"
    assert run.state.word == "Interrupted"
    assert "takes the nodes of job 4711 away" in run.state.attempts[0].interrupted_by


@pytest.mark.timeout(120)
def test_limits_hold_over_all_starts(
    make_job: MakeJob, submit: Submit, programs: Path, run_of: Callable[[], Run]
) -> None:
    (programs / "job").write_text(IS_REQUEUED, encoding="utf-8")
    limits = {"max_runtime_s": 4.0, "max_wait": 5.0}
    forever = "import signal\nsignal.pause()\n"
    job = make_job(forever, cluster=CLUSTER, use_spot_instances=True, **limits)
    first = submit(job)
    folder = RunFolder(programs.parent / "runs" / "demo-4711")
    wait_until(
        lambda: read_state(folder).secondary == "Training", what="the first start", limit_s=60
    )
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)
    second = submit(job, SLURM_RESTART_COUNT="1")
    (programs / "job").write_text(RUNS.replace("Restarts=0", "Restarts=1"), encoding="utf-8")
    second.communicate(timeout=60)

    state = run_of().state
    assert (state.state, len(state.attempts)) == ("Stopped", 2)
    assert state.secondary in {"MaxRuntimeExceeded", "MaxWaitTimeExceeded"}
    used_s = sum((one.ended_s or 0) - one.started_s for one in state.attempts)
    assert used_s >= 3.9 or state.secondary == "MaxWaitTimeExceeded"


def test_a_folder_that_not_all_nodes_share_is_told(
    spot_job: TrainingJob, submit: Submit, programs: Path
) -> None:
    (programs / "job").write_text(RUNS, encoding="utf-8")
    process = submit(spot_job.model_copy(update={"max_steps": 1}), SLURM_RESTART_COUNT="1")
    said, _ = process.communicate(timeout=60)

    assert "holds no run of it, so it begins anew. Give a folder of runs that all nodes" in said


def test_the_script_of_a_spot_job_is_requeued_and_told_before(spot_job: TrainingJob) -> None:
    script = render(spot_job, "slurm")

    for line in ("--requeue", "--open-mode=append", "--signal=B:TERM@60"):
        assert f"\n#SBATCH {line}\n" in script
    assert "no-requeue" not in script


@pytest.mark.parametrize(
    ("to", "values", "said"),
    [
        ("jobset", {}, r"on Kubernetes nothing starts another attempt.*render it to='slurm'"),
        ("slurm", {"market": Market()}, "market is played by this machine alone"),
        ("slurm", {"working_dir": "own"}, "working_dir='own' is made where this machine"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(
    spot_job: TrainingJob, to: str, values: dict[str, object], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        render(spot_job.model_copy(update=values), to)
