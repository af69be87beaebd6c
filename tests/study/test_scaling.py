"""A job on several numbers of devices: the set-ups, and real launches of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError, StoreError
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.scaling.scale import ScalingRun, launch_scaling, question_of, scale
from smtc_lab.study.scaling.set_ups import scaled_jobs
from smtc_lab.views.scaling.kind import ScalingKind
from tests.kit.quick_script import GROUPED_SCRIPT, QUICK_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

EMULATION = Emulation(cores_per_vcpu=0.005)


def set_ups(
    job: TrainingJob | Sequence[TrainingJob], devices: Sequence[int], **options: object
) -> tuple[tuple[TrainingJob, ...], list[tuple[str, int, int, int]]]:
    given = {"mode": "weak", "batch": "batch_size", "bigger_instances": False, **options}
    jobs = job if isinstance(job, list) else [job]
    made, designs = scaled_jobs(jobs, devices, catalog=Catalog.load(), **given)  # type: ignore[arg-type]
    return made, [(x.set_up, x.devices, x.instances, x.idle_devices) for x in designs]


def test_the_training_group_grows_and_a_data_group_stays(make_job: MakeJob) -> None:
    job = make_job("pass", cluster="dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.xlarge:1")

    jobs, designs = set_ups(job, (4, 1, 2))

    assert designs == [("1 device", 1, 1, 0), ("2 devices", 2, 2, 0), ("4 devices", 4, 4, 0)]
    counts = [[g.instance_count for g in each.cluster.instance_groups] for each in jobs]
    assert counts == [[1, 1], [2, 1], [4, 1]]
    assert jobs[0].distribution == Distribution(data=1), "a script for torchrun is told so"
    assert jobs[2].distribution == Distribution(data=4)


def test_a_part_of_an_instance_has_idle_devices(make_job: MakeJob) -> None:
    job = make_job("pass", cluster="dnn_group=ml.p3.8xlarge:1")

    jobs, designs = set_ups(job, (1, 2, 4, 8))

    assert [design[2:] for design in designs] == [(1, 3), (1, 2), (1, 0), (2, 0)]
    assert jobs[0].distribution == Distribution(data=1, processes_per_host=1)
    assert jobs[3].distribution == Distribution(data=8)
    with pytest.raises(SpecError, match=r"6 devices are no whole number of ml\.p3\.8xlarge"):
        set_ups(job, (4, 6))


def test_bigger_instances_come_before_more_where_they_are_asked_for(make_job: MakeJob) -> None:
    job = make_job("pass", cluster="dnn_group=ml.g5.xlarge:1")

    jobs, designs = set_ups(job, (1, 2, 4, 8, 16), bigger_instances=True)

    types = [each.cluster.instance_groups[0].instance_type for each in jobs]
    assert types[:2] == ["ml.g5.xlarge", "ml.g5.xlarge"]
    assert types[2:] == ["ml.g5.12xlarge", "ml.g5.48xlarge", "ml.g5.48xlarge"]
    assert [design[2] for design in designs] == [1, 2, 1, 1, 2]


def test_strong_scaling_divides_the_batch_and_refuses_what_does_not_divide(
    make_job: MakeJob,
) -> None:
    job = make_job(
        "pass", cluster="dnn_group=ml.p3.2xlarge:1", hyperparameters={"batch_size": 12}
    )

    jobs, _ = set_ups(job, (1, 2, 4), mode="strong")

    assert [each.hyperparameters["batch_size"] for each in jobs] == [12, 6, 3]
    with pytest.raises(SpecError, match="cannot be shared by 8 devices alike"):
        set_ups(job, (1, 8), mode="strong")
    with pytest.raises(SpecError, match="hyperparameter 'size' is not given"):
        set_ups(job, (1, 2), mode="strong", batch="size")


def test_a_sharded_model_keeps_its_shards(make_job: MakeJob) -> None:
    job = make_job(
        "pass", cluster="dnn_group=ml.p3.2xlarge:1", distribution={"data": 1, "shard": 2}
    )

    jobs, _ = set_ups(job, (2, 4))

    found = [each.distribution for each in jobs]
    assert found == [Distribution(data=1, shard=2), Distribution(data=2, shard=2)]
    with pytest.raises(SpecError, match="3 devices cannot be replicas of 2"):
        set_ups(job, (2, 3))


def test_all_that_is_wrong_is_said_before_anything_starts(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job("pass", cluster="dnn_group=ml.p3.2xlarge:1")
    with pytest.raises(SpecError, match="neither 'weak' nor 'strong'") as raised:
        launch_scaling(job, mode="sideways", bound=2, root=root)  # type: ignore[arg-type]
    assert len(raised.value.problems) == 2
    with pytest.raises(SpecError, match=r"devices=\[0\] is not"):
        launch_scaling(job, devices=(0,), root=root)
    with pytest.raises(SpecError, match="Two jobs have a cluster called 'homogeneous'"):
        launch_scaling([job, job], devices=(1, 2), root=root)
    assert not root.exists()


def test_one_and_two_emulated_devices_are_launched_and_told(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job(
        GROUPED_SCRIPT,
        cluster="dnn_group=ml.p3.2xlarge:1",
        emulation=EMULATION,
        max_steps=30,
        hyperparameters={"lr": 0.1},
    )
    lines = []

    found = scale(
        job,
        devices=(1, 2),
        rounds=1,
        samples_per_epoch=1_000,
        root=root,
        progress=lines.append,
    )

    (curve,) = found.curves
    assert [(p.set_up, p.devices, p.samples_per_step) for p in curve.points] == [
        ("1 device", 1, 8),
        ("2 devices", 2, 16),
    ]
    first, second = curve.points
    assert second.efficiency is not None
    assert second.efficiency == found.comparison.pairs[0].speedup
    assert second.efficiency.evidence == "emulated"
    assert sum(part.s_per_step.mean for part in second.lost) == pytest.approx(
        second.loss_s.mean  # type: ignore[union-attr]
    )
    assert first.usd_per_epoch is not None
    assert found.verdict.startswith("2 devices against 1: ")
    (study,) = (root.parent / "comparisons").iterdir()
    assert ScalingRun.open(study.name, root=root).scaling == found
    assert [run.round for run in ScalingRun.open(study.name, root=root).state.runs] == [1, 1]


def test_a_part_of_an_instance_trains_and_the_rest_is_said_to_idle(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job(
        GROUPED_SCRIPT,
        cluster="dnn_group=ml.p3.8xlarge:1",
        emulation=Emulation(cores_per_vcpu=0.01),
        max_steps=10,
    )

    found = scale(job, devices=(1, 2), rounds=1, root=root)

    points = found.curves[0].points
    assert [(p.instances, p.idle_devices, p.samples_per_step) for p in points] == [
        (1, 3, 8),
        (1, 2, 16),
    ]
    idle = next(each for each in found.findings if each.kind == "idle_devices")
    assert "3 of 4 at 1, 2 of 4 at 2" in idle.sentence


def test_the_code_of_a_study_asks_for_the_same_and_of_a_damaged_one_for_nothing(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job(QUICK_SCRIPT, cluster="dnn_group=ml.p3.2xlarge:1", max_steps=3)
    study = launch_scaling(job, devices=(2, 1), rounds=1, bound=0.3, root=root, detach=False)
    study.stop()

    code = ScalingKind("scaling").code(study.request)

    call = "lab.launch_scaling(jobs, devices=(1, 2), bound=0.3, rounds=1)"
    assert call in code
    found: dict[str, object] = {}
    exec(code.replace(call, "jobs"), found)  # noqa: S102  code that we wrote
    (asked,) = found["scaling"]  # type: ignore[misc]
    assert asked == job
    damaged = replace(study.request, options={**study.request.options, "set_ups": [3]})
    assert ScalingKind("scaling").code(damaged) == ""
    with pytest.raises(StoreError, match="What this scaling study asks cannot be read"):
        question_of(damaged, catalog=Catalog.load(), looks=1)


def test_the_code_holds_no_value_that_a_shared_page_has_taken_out(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job(
        QUICK_SCRIPT,
        cluster="dnn_group=ml.p3.2xlarge:1",
        max_steps=3,
        environment={"TOKEN": "hidden"},
        hyperparameters={"batch_size": 8},
    )
    study = launch_scaling(
        job, devices=(1, 2), rounds=1, mode="strong", root=root, detach=False
    )
    study.stop()
    told = tuple(
        each.model_copy(update={"environment": {"TOKEN": "..."}}) for each in study.request.jobs
    )

    code = ScalingKind("scaling").code(replace(study.request, jobs=told))

    assert "hidden" not in code
    assert '"batch_size": 8' in code
    assert "mode='strong'" in code
