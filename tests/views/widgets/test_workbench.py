"""The workbench: its traits, its messages, and what it starts."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.calibrations import keep_calibration
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    jobs = [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@here=local:1"),
            max_steps=20,
        )
        for name in ("one", "other")
    ]
    shown = Workbench(jobs, rounds=1)
    yield shown
    if shown.comparison is not None:
        shown.comparison.stop()
    shown.close()


def receive(workbench: Workbench, message: Any) -> None:
    """Hand the workbench a message of a browser."""
    workbench._handle_custom_msg(message, [])


def changed(workbench: Workbench, place: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        {**job, **fields} if at == place else dict(job)
        for at, job in enumerate(workbench.value)
    ]


def test_the_first_look_waits_for_nothing_that_only_a_run_needs() -> None:
    code = (
        "import sys; from smtc_lab.views.widgets.workbench import Workbench; Workbench();"
        "print(sorted({'matplotlib', 'numpy', 'psutil', 'torch'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_where_no_widget_can_be_shown_it_says_what_to_do(workbench: Workbench) -> None:
    assert repr(workbench) == "<Workbench: run this cell to see it>"


def test_it_begins_with_the_pair_of_the_demo() -> None:
    jobs = Workbench().jobs

    assert [job.cluster.is_heterogeneous for job in jobs] == [False, True]
    assert jobs[0].emulation is not None
    assert jobs[0].entry_point == jobs[1].entry_point


def test_run_starts_what_the_form_says_and_tells_it_beside_what_was_predicted(
    workbench: Workbench,
) -> None:
    keep_calibration(workbench.jobs[0], runs_root(), emulated_device_s=None)

    comparison = workbench.run()

    foretold = [each["foretold"] for each in workbench.info["set_ups"]]
    assert all(each["step_time_s"]["evidence"] == "predicted" for each in foretold)
    assert workbench.running == comparison.name
    outcome = workbench.outcome(60)
    assert [cluster.name for cluster in outcome.comparison.clusters] == ["one", "other"]
    wait_until(lambda: workbench.info["ended"], what="the view has seen the end")
    assert workbench.result


def test_a_second_run_waits_for_the_end_of_the_first(workbench: Workbench) -> None:
    workbench.value = changed(workbench, 0, max_steps=100_000)
    workbench.run()

    with pytest.raises(LauncherError, match=r"still runs\. Stop it"):
        workbench.run()


def test_a_wrong_set_up_starts_nothing_and_keeps_the_last_legal_ones(
    workbench: Workbench,
) -> None:
    workbench.value = changed(workbench, 1, max_steps=0)

    assert workbench.problems[0] == []
    assert "max_steps=0" in workbench.problems[1][0]
    assert workbench.code == ""
    assert [job.max_steps for job in workbench.jobs] == [20, 20]
    with pytest.raises(SpecError, match="max_steps=0"):
        workbench.run()


def test_the_code_makes_the_set_ups_of_the_form(workbench: Workbench) -> None:
    found: dict[str, Any] = {}
    program = workbench.code.replace("lab.launch_comparison(jobs, rounds=1)", "jobs")

    exec(program, found)  # noqa: S102  code that we wrote

    assert found["comparison"] == workbench.jobs


def test_the_browser_starts_and_stops(workbench: Workbench) -> None:
    workbench.value = changed(workbench, 0, max_steps=100_000)

    receive(workbench, {"type": "run"})
    wait_until(lambda: workbench.running, what="the comparison was started")
    receive(workbench, {"type": "stop"})

    wait_until(lambda: workbench.info.get("ended"), what="the comparison has ended")
    assert workbench.info["state"] == "Stopped"
    assert workbench.info["reason"] == "The comparison was stopped by its user."


def test_the_browser_starts_a_scaling_study_of_the_set_ups(workbench: Workbench) -> None:
    workbench.jobs = workbench.jobs[:1]
    receive(workbench, {"type": "scale", "devices": [1]})

    wait_until(lambda: workbench.running, what="the study was started")
    scaling = workbench.outcome(60)
    assert [curve.name for curve in scaling.curves] == ["one"]
    wait_until(lambda: workbench.info["ended"], what="the view has seen the end")
    assert workbench.info["sections"][0]["values"]["mode"] == "weak"


def test_devices_that_are_no_numbers_start_nothing(workbench: Workbench) -> None:
    receive(workbench, {"type": "scale", "devices": ["2"]})
    receive(workbench, {"type": "scale"})

    assert workbench.comparison is None


def test_what_cannot_be_started_says_why(workbench: Workbench) -> None:
    same = [dict(workbench.value[0]), dict(workbench.value[0])]
    workbench.value = same

    receive(workbench, {"type": "run"})

    wait_until(lambda: workbench.start_problem, what="the workbench says why")
    assert "Two clusters are called 'one'" in workbench.start_problem
    assert workbench.running == ""
    workbench.value = changed(workbench, 1, max_steps=7)
    assert workbench.start_problem == ""  # it may be mended


@pytest.mark.parametrize("message", ["run", None, ["run"], {"type": "fly"}, {}])
def test_a_message_that_means_nothing_starts_nothing(
    workbench: Workbench, message: Any
) -> None:
    receive(workbench, message)

    assert workbench.comparison is None


def test_a_cluster_of_this_machine_is_measured_and_not_emulated(workbench: Workbench) -> None:
    pair = Workbench().jobs
    workbench.jobs = [pair[0], workbench.jobs[0]]

    assert [job.emulation is None for job in workbench.jobs] == [False, True]
