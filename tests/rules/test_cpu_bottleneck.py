from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.rules.call_text import calibrate_text
from smtc_lab.rules.find import find
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.records import HETEROGENEOUS, run_records


def kinds(**example: Any) -> list[str]:
    run = {"cpu_used_fraction": 0.95, "data_wait_fraction": 0.6, "device_time_s": 0.06}
    return [each.kind for each in find(run_records(**{**run, **example}))]


def test_busy_cpus_and_idle_devices_are_a_cpu_bottleneck_and_lead_to_the_planner() -> None:
    run = run_records(cpu_used_fraction=0.95, data_wait_fraction=0.6, device_time_s=0.06)

    (finding,) = find(run)

    assert finding.kind == "cpu_bottleneck"
    assert "95 % busy" in finding.sentence
    assert "the device works in 30 % of each step" in finding.sentence
    assert finding.action == (
        "print(smtc_lab.plan(smtc_lab.calibrate('train.py')).best.explain())"
    )
    assert finding.cost is not None
    assert finding.cost.fraction == pytest.approx(0.6, rel=0.02)


def test_what_leads_to_the_planner_runs_the_script_as_it_was_run() -> None:
    job = TrainingJob(
        entry_point="my train.py",
        cluster=Cluster.parse(HETEROGENEOUS),
        hyperparameters={"lr": 0.1, "name": "it's"},
        arguments=("--epochs", "3"),
        emulation=Emulation(device_step_time_s=0.008),
    )
    unlike = job.model_copy(
        update={"cluster": Cluster.parse("a=ml.p3.2xlarge:1,b=ml.g5.xlarge:1")}
    )

    text = calibrate_text(job)

    assert text.startswith("smtc_lab.calibrate('my train.py', hyperparameters={'lr': 0.1, ")
    assert "arguments=('--epochs', '3'), device_s='V100=0.008')" in text
    compile(text, "advice", "eval")
    assert calibrate_text(unlike).endswith(", device_s='0.008')")


@pytest.mark.parametrize(
    ("emulation", "word"),
    [(None, "measured"), (Emulation(device_step_time_s=0.06), "emulated")],
)
def test_the_cost_in_an_emulated_run_is_called_emulated(
    emulation: Emulation | None, word: str
) -> None:
    run = run_records(cpu_used_fraction=0.95, data_wait_fraction=0.6, emulation=emulation)

    assert {each.cost.evidence for each in find(run) if each.cost is not None} == {word}


def test_a_wait_while_the_device_still_works_is_overlapped_and_no_bottleneck() -> None:
    assert "cpu_bottleneck" not in kinds(device_time_s=0.195)


def test_idle_cpus_are_no_bottleneck() -> None:
    assert kinds(cpu_used_fraction=0.5) == ["data_wait"]


def test_a_trainer_that_hardly_waits_is_not_cpu_bound() -> None:
    assert kinds(data_wait_fraction=0.05) == []


def test_a_wait_counts_without_a_device_time_when_each_step_was_synchronized() -> None:
    assert kinds(device_time_s=None) == ["cpu_bottleneck"]


def test_the_cpus_of_the_data_group_count_where_there_is_one() -> None:
    assert kinds(cluster=HETEROGENEOUS) == ["cpu_bottleneck"]


def test_no_data_group_is_advised_to_a_run_that_has_one() -> None:
    busy = {"cpu_used_fraction": 0.95, "data_wait_fraction": 0.6, "device_time_s": 0.06}
    for run in (busy, {**busy, "cpu_used_fraction": 0.5}):  # CPU-bound, and a wait alone
        (alone,), (fed,) = (
            find(run_records(**run)),
            find(run_records(**run, cluster=HETEROGENEOUS)),
        )

        assert "a data group" in alone.fix
        assert "ore or larger instances in the data group" in fed.fix
