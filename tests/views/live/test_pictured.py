"""What a picture shows of a set-up that runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.comparison import Utilization
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.study.estimate import set_up_estimate
from smtc_lab.views.study.pictured import part_use, pictured_groups

if TYPE_CHECKING:
    from smtc_lab.views.text.set_ups import SetUpEstimate

FED = Cluster.parse("dnn=ml.p3.2xlarge:1,big=ml.c5.18xlarge:1,small=ml.c5.9xlarge:2")


def job_of(cluster: Cluster, **values: Any) -> TrainingJob:
    return TrainingJob(entry_point="train.py", cluster=cluster, **values)


def seen(**cpu: float | None) -> SetUpEstimate:
    use = Utilization(device=0.25, cpu=cpu)
    return replace(set_up_estimate([], job_of(FED)), steps=10, utilization=use)


def test_groups_have_their_role_and_what_the_catalog_knows() -> None:
    dnn, big, _ = pictured_groups(job_of(FED), Catalog.load())

    assert (dnn.role, dnn.vcpus, dnn.accelerator_count) == ("train", 8, 1)
    assert (big.role, big.vcpus, big.accelerator) == ("data", 72, None)


@pytest.mark.parametrize(
    ("distribution", "trainers"),
    [
        (None, 1),
        ("auto", 4),
        ({"mpi": {"enabled": True, "processes_per_host": 2}}, 2),
        ({"data": 3}, None),
    ],
)
def test_a_picture_knows_how_many_devices_are_used(
    distribution: Any, trainers: int | None
) -> None:
    job = job_of(Cluster.parse("dnn=ml.p3.8xlarge:1"), distribution=distribution)

    (group,) = pictured_groups(job, Catalog.load())

    assert (group.accelerator_count, group.trainers) == (4, trainers)


def test_of_a_type_that_no_catalog_knows_there_is_no_picture() -> None:
    cluster = Cluster.parse("dnn=ml.gone.xlarge:1")

    assert pictured_groups(job_of(cluster), Catalog.load()) == ()


def test_of_this_machine_its_size_is_not_known() -> None:
    (group,) = pictured_groups(job_of(Cluster.parse("here=local:1")), Catalog.load())

    assert (group.role, group.vcpus, group.network_gbps) == ("train", None, None)


def test_groups_of_one_role_count_by_their_vcpus() -> None:
    groups = pictured_groups(job_of(FED), Catalog.load())

    use = part_use(groups, seen(dnn=0.5, big=1.0, small=0.0))

    assert use is not None
    assert (use.trainer_cpu, use.device, use.network) == (0.5, 0.25, None)
    assert use.data_cpu == pytest.approx(0.5)  # 72 vCPUs full, 2 x 36 idle


def test_a_group_that_tells_nothing_makes_its_part_unknown() -> None:
    groups = pictured_groups(job_of(FED), Catalog.load())

    use = part_use(groups, seen(dnn=0.5, big=1.0, small=None))

    assert use is not None
    assert use.data_cpu is None


def test_before_the_first_step_nothing_is_told() -> None:
    groups = pictured_groups(job_of(FED), Catalog.load())

    assert part_use(groups, set_up_estimate([], job_of(FED))) is None
