"""Comparisons that go on in a process of their own: real processes, stopped and killed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, RunFailedError, SpecError, StoreError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.study.comparison.plan import plan_comparison
from smtc_lab.study.folder import read_process, studies_root
from tests.kit.runs import PATIENCE_S, processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

TIMED_STEPS = """
    import sys, time
    from smtc_lab.runtime.instance_runtime import instance_runtime
    class Clock:  # each step takes what it sleeps, on a machine however busy
        now_s = time.time()
        time = perf_counter = lambda self: self.now_s
        def sleep(self, seconds):
            time.sleep(seconds)
            self.now_s += seconds
    timer = instance_runtime().timer
    timer.clock = Clock()
    step_time_s = float(sys.argv[sys.argv.index("--step-time") + 1])
    while not timer.is_done:
        timer.ask()
        timer.clock.sleep(step_time_s)
        timer.got(8)
        timer.end()
"""
FAST, SLOW = "fast@here=local:1", "slow <b>&@here=local:1"


@pytest.fixture
def make_pair(make_job: MakeJob) -> Callable[..., list[TrainingJob]]:
    def make(**values: object) -> list[TrainingJob]:
        fields = {"max_steps": 20, **values}
        return [
            make_job(
                TIMED_STEPS, cluster=cluster, hyperparameters={"step-time": step_time}, **fields
            )
            for cluster, step_time in ((SLOW, 0.01), (FAST, 0.002))
        ]

    return make


@pytest.fixture
def endless(make_pair: Callable[..., list[TrainingJob]]) -> list[TrainingJob]:
    return make_pair(max_steps=100_000)


@pytest.fixture
def begin(root: Path) -> Iterator[Callable[..., ComparisonRun]]:
    """Launch a comparison and wait for its first step; whatever is left of it is stopped."""
    begun = []

    def begin_one(jobs: list[TrainingJob], **options: bool) -> ComparisonRun:
        run = launch_comparison(jobs, root=root, **options)
        begun.append(run)
        wait_until(lambda: run.progress().steps > 0, what="the first step")
        return run

    yield begin_one
    for run in begun:
        run.stop()


def is_gone(run: ComparisonRun) -> bool:
    process = read_process(run.folder)
    assert process is not None
    return start_ticks(process[0]) != process[1]


def leftovers(root: Path) -> dict[int, str]:
    return {pid: text for run in root.iterdir() for pid, text in processes_after(run).items()}


def test_rounds_are_interleaved_and_every_other_one_is_turned_round(
    make_pair: Callable[..., list[TrainingJob]], root: Path
) -> None:
    planned = plan_comparison(make_pair(), rounds=3, root=root).launches

    assert [plan.job.cluster.label for plan in planned] == [
        *("slow <b>&", "fast"),
        *("fast", "slow <b>&"),
        *("slow <b>&", "fast"),
    ]


def test_a_launched_comparison_returns_at_once_ends_as_compare_does_and_is_opened_by_name(
    make_pair: Callable[..., list[TrainingJob]], root: Path
) -> None:
    run = launch_comparison(make_pair(), rounds=1, root=root)
    assert not run.state.is_terminal

    outcome = run.wait()

    slow, fast = "slow <b>&", "fast"
    assert [records.label for records in outcome.runs] == [slow, fast]
    assert outcome.comparison.speedup is not None
    assert outcome.comparison.speedup.low == pytest.approx(5, rel=1e-3)
    assert [(one.label, one.round) for one in run.state.runs] == [(slow, 1), (fast, 1)]
    assert [one.job_name for one in run.state.runs] == [one.job_name for one in run.runs]
    assert run.folder.path.parent == root.parent / "comparisons"
    assert run.folder.path.stat().st_mode & 0o777 == 0o700
    assert run.progress().launch == run.progress().launches == 2
    assert run.progress().steps == 20
    assert is_gone(run)
    assert run.stop().status == "Completed"

    again = ComparisonRun.open(run.name, root=root)

    assert again.wait() == outcome
    assert again.request.jobs == run.request.jobs


def test_an_unknown_name_is_told_with_the_names_that_there_are(root: Path) -> None:
    with pytest.raises(StoreError, match=r"no-such.*newest comparisons are: none"):
        ComparisonRun.open("no-such", root=root)


def test_all_problems_of_the_jobs_are_told_before_anything_starts(
    make_pair: Callable[..., list[TrainingJob]], root: Path
) -> None:
    jobs = make_pair()

    with pytest.raises(SpecError) as refused:
        launch_comparison([jobs[0], jobs[0]], rounds=0, root=root)

    assert len(refused.value.problems) == 2
    assert not studies_root(root).exists()
    with pytest.raises(SpecError, match=r"parity=True.*no job has compiler settings"):
        launch_comparison(jobs, root=root, parity=True)


def test_an_interrupt_of_who_waits_ends_the_launch_that_runs_and_begins_no_other_one(
    endless: list[TrainingJob],
    begin: Callable[..., ComparisonRun],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = begin(endless)
    with pytest.raises(LauncherError, match=r"still runs after 0 s\. Wait longer"):
        run.wait(timeout_s=0)
    assert run.status == "InProgress"

    def interrupted(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("smtc_lab.study.study_run.await_process", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.wait()

    assert run.status == "Stopped"
    assert run.state.reason == "The comparison was stopped by its user."
    assert [one.status for one in run.runs] == ["Stopped"]
    assert is_gone(run)
    assert leftovers(root) == {}
    ended_s = run.state.ended_s
    assert run.stop().state.ended_s == ended_s
    with pytest.raises(RunFailedError, match=r"ended as Stopped\. .*stopped by its user"):
        run.wait()


def test_a_stop_before_the_process_is_up_is_a_stop_too(
    endless: list[TrainingJob], root: Path
) -> None:
    run = launch_comparison(endless, root=root)

    assert run.stop().status == "Stopped"

    assert run.runs == []
    assert is_gone(run)


def test_the_death_of_the_launching_process_ends_an_attached_comparison_only(
    endless: list[TrainingJob], root: Path, tmp_path: Path
) -> None:
    jobs_file = tmp_path / "jobs.txt"
    jobs_file.write_text("\0".join(job.to_json() for job in endless), encoding="utf-8")
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from smtc_lab.study.comparison.comparison_run import launch_comparison\n"
        "from smtc_lab.spec.job import TrainingJob\n"
        "texts = Path(sys.argv[1]).read_text().split(chr(0))\n"
        "jobs = [TrainingJob.from_json(text) for text in texts]\n"
        "for detach in (False, True):\n"
        "    run = launch_comparison(jobs, root=Path(sys.argv[2]), detach=detach)\n"
        "    print(run.name, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script, str(jobs_file), str(root)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )

    attached, detached = (ComparisonRun.open(name, root=root) for name in ended.stdout.split())
    try:
        with pytest.raises(RunFailedError, match="process that launched the comparison ended"):
            attached.wait(PATIENCE_S)
        wait_until(lambda: detached.progress().steps > 0, what="a step of the detached one")
    finally:
        detached.stop()
    assert detached.status == "Stopped"
    assert leftovers(root) == {}


def test_a_failing_launch_fails_the_comparison_and_names_it(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job("raise SystemExit(3)", cluster=SLOW)

    with pytest.raises(RunFailedError, match=r"Launch 1 of 3 \(slow <b>&\).*code 3"):
        launch_comparison([job], root=root).wait()


def test_parity_launches_belong_to_no_round(make_job: MakeJob, root: Path) -> None:
    config = TrainingCompilerConfig(backend="eager")
    jobs = [
        make_job(
            TIMED_STEPS,
            cluster=f"{name}@here=local:1",
            hyperparameters={"step-time": 0.001},
            max_steps=5,
            compiler_config=config.model_copy(update={"keep_memory": keep}),
        )
        for name, keep in (("plain", False), ("kept", True))
    ]

    run = launch_comparison(jobs, rounds=1, root=root, parity=True)
    outcome = run.wait()

    rounds = [one.round for one in run.state.runs]
    assert rounds[:2] == [1, 1]
    assert rounds[2:] == [None] * (len(rounds) - 2) != []
    assert len(outcome.runs) == 2
    assert processes_of(root) == {}
