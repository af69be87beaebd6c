"""Metrics that are found in what a script prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.runtime.own_metrics.printed import LONGEST_LINE
from smtc_lab.store.query import query

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

_SCRIPT = f"""
    import sys, time
    from smtc_lab.runtime.instance_runtime import instance_runtime
    timer = instance_runtime().timer
    for step in range(3):
        timer.ask()
        timer.got(8)
        timer.end()
    print("loss=0.5\\rloss=1e400 loss=9", flush=True)
    print("loss=none of these is")
    print("x" * {LONGEST_LINE} + "loss=3")
    print("slow " + "a" * 40 + "!")
    sys.stdout.write("loss=0.25")
"""


def test_they_are_found_to_the_last_line_whatever_an_expression_does(
    start: Callable[..., Run], make_job: Callable[..., TrainingJob]
) -> None:
    definitions = [
        {"Name": "slow", "Regex": "slow ((?:a+)+)$"},
        {"Name": "loss", "Regex": r"loss=([\w.]+)"},
    ]
    job = make_job(_SCRIPT, metric_definitions=definitions)

    run = start(job).wait()

    loss = run.metrics()["loss"]
    assert (loss.value.tolist(), loss.rank) == ([0.5, float("inf"), 0.25], None)
    assert loss.step.tolist() == [2, 2, 2]
    warned = [each.message for each in run.records().events if each.kind == "warning"]
    assert ["'slow' took over 1 s" in message for message in warned] == [True]


def test_what_is_printed_while_it_is_stopped_counts_and_the_stop_takes_no_longer(
    start: Callable[..., Run], make_job: Callable[..., TrainingJob]
) -> None:
    body = """
        import signal, sys, time
        def end(*_):
            print("saved=7", flush=True)
            sys.exit(0)
        signal.signal(signal.SIGTERM, end)
        print("ready=1", flush=True)
        signal.pause()
    """
    definitions = [{"Name": name, "Regex": f"{name}=([0-9])"} for name in ("ready", "saved")]
    run = start(make_job(body, metric_definitions=definitions))
    until_found(run, "ready")

    run.stop()

    assert run.metrics().last == {"ready": 1.0, "saved": 7.0}
    assert run.status == "Stopped"


def test_a_job_without_definitions_has_no_such_process(
    start: Callable[..., Run], make_job: Callable[..., TrainingJob]
) -> None:
    run = start(make_job("print('loss=1')")).wait()

    assert not run.folder.system_records("algo-1", "printed").exists()


def until_found(run: Run, name: str) -> None:
    """Return once a metric is there."""
    path = run.folder.system_records("algo-1", "printed")
    while not (
        path.exists() and query([path], "SELECT 1 FROM metric_record WHERE name = ?", (name,))
    ):
        run.poll()
