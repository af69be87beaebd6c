from __future__ import annotations

import pytest

from tests.kit.records import STARTED_S, run_records, step_record, system_sample


def test_builders_change_only_what_they_are_told() -> None:
    assert step_record(step=7).step == 7
    assert step_record(step=7).step_time_s == step_record().step_time_s
    assert system_sample(interval_s=0.1).interval_s == 0.1


def test_builders_refuse_a_field_that_records_do_not_have() -> None:
    with pytest.raises(TypeError, match="steptime"):
        step_record(steptime=1.0)
    with pytest.raises(TypeError, match="launches"):
        run_records(launches=3)


def test_steps_follow_each_other_after_the_start_up() -> None:
    steps = run_records([0.3, 0.2], startup_s=1.0).steps["algo-1-rank0"]

    assert [step.step for step in steps] == [0, 1]
    assert steps[0].end_time_s == pytest.approx(STARTED_S + 1.3)
    assert steps[1].end_time_s == pytest.approx(STARTED_S + 1.5)


def test_every_instance_of_a_cluster_has_samples() -> None:
    run = run_records(cluster="a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:2")

    assert list(run.system) == ["algo-1", "algo-2", "algo-3"]
    assert run.system["algo-3"][0].cpu_quota_cores is None
    assert run.system["algo-3"][-1].cpu_quota_cores == 1.0
