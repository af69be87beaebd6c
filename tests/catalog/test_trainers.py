from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.placed import placed
from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

V100_4 = "train=ml.p3.8xlarge"


def counts(cluster: str, distribution: Any, *, devices_here: int = 0, **values: Any) -> Any:
    job = TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(cluster),
        distribution=distribution,
        **values,
    )
    where = placed(job, Catalog.load(), devices_here=devices_here)
    return {each.group.instance_group_name: each.num_trainers for each in where.groups}


def refusal(cluster: str, distribution: Any, **values: Any) -> str:
    with pytest.raises(SpecError) as refused:
        counts(cluster, distribution, **values)
    return str(refused.value)


@pytest.mark.parametrize(
    ("cluster", "distribution", "expected"),
    [
        (V100_4, None, {"train": 1}),
        (V100_4, "auto", {"train": 4}),
        (V100_4, {"data": 4}, {"train": 4}),
        (f"{V100_4}:2", {"data": 2, "shard": 4}, {"train": 4}),
        (f"{V100_4}:2", {"shard": 4}, {"train": 4}),
        (V100_4, {"torch_distributed": {"enabled": True}}, {"train": 4}),
        (V100_4, {"mpi": {"enabled": True, "processes_per_host": 2}}, {"train": 2}),
        (f"{V100_4},data=ml.c5.9xlarge:2", {"data": 4}, {"train": 4, "data": 0}),
        ("here=local", {"data": 4}, {"here": 4}),
        ("here=local", {"shard": 4}, {"here": 4}),
        ("here=local:2", {"data": 2, "shard": 2}, {"here": 2}),
        ("here=local", "auto", {"here": 1}),
        ("cpu=ml.c5.9xlarge:2", {"data": 8}, {"cpu": 4}),
        ("a=ml.p3.8xlarge:1:train,b=ml.c5.9xlarge:2:train", {"data": 8}, {"a": 4, "b": 2}),
    ],
)
def test_trainers_are_the_accelerators_or_what_the_product_leaves(
    cluster: str, distribution: Any, expected: Any
) -> None:
    assert counts(cluster, distribution) == expected


def test_this_machine_counts_with_its_own_accelerators() -> None:
    assert counts("here=local", "auto", devices_here=2) == {"here": 2}


@pytest.mark.parametrize("device_s", [None, 0.04])
def test_an_emulation_has_as_many_trainers_with_a_declared_device_as_without(
    device_s: float | None,
) -> None:
    emulation = Emulation(device_step_time_s=device_s)

    assert counts(V100_4, "auto", emulation=emulation) == {"train": 4}
    assert counts(V100_4, {"data": 2, "processes_per_host": 2}, emulation=emulation) == {
        "train": 2
    }
    assert "asks for 2 trainers, but there are 4 trainers on 1 x ml.p3.8xlarge" in refusal(
        V100_4, {"data": 2}, emulation=emulation
    )


@pytest.mark.parametrize(
    ("cluster", "distribution", "words"),
    [
        (
            V100_4,
            {"mpi": {"enabled": True, "processes_per_host": 8}},
            (
                "Number of node-local processes 8 cannot be larger than the device count 4 of "
                "ml.p3.8xlarge."
            ),
        ),
        (
            V100_4,
            {"data": 2, "shard": 4},
            (
                "distribution data=2, shard=4 asks for 8 trainers, but there are 4 trainers on "
                "1 x ml.p3.8xlarge; the processes 8 cannot be larger than the device count 4. "
                "Write data=1, shard=4, or say"
            ),
        ),
        (
            V100_4,
            {"data": 3},
            (
                "distribution data=3 asks for 3 trainers, but there are 4 trainers on 1 x "
                "ml.p3.8xlarge. Write data=4, or say with processes_per_host"
            ),
        ),
        (
            V100_4,
            {"shard": 3},
            (
                "distribution shard=3 makes replicas of 3 trainers, which do not divide the 4 "
                "trainers on 1 x ml.p3.8xlarge. Choose what does."
            ),
        ),
        (
            "train=ml.p3.8xlarge:2",
            {"tensor": 8},
            (
                "distribution tensor=8 divides layers among trainers of one instance, but "
                "ml.p3.8xlarge has 4. Choose a tensor that divides them."
            ),
        ),
        (
            V100_4,
            {"data": 4, "pipeline": 2},
            (
                "distribution data=4, pipeline=2 asks for 8 trainers, but there are 4 trainers "
                "on 1 x ml.p3.8xlarge; the processes 8 cannot be larger than the device count "
                "4. Write data=2, pipeline=2, or say"
            ),
        ),
        (
            "here=local:2",
            {"data": 3},
            (
                "asks for 3 trainers, which 2 training instances cannot share evenly. Ask for "
                "a multiple of 2."
            ),
        ),
        ("here=local:300", {"data": 1000, "shard": 3}, "a job may have 1000"),
        (
            V100_4,
            {"mpi": {"enabled": True}, "instance_groups": ["gpus"]},
            "names the instance group 'gpus', which the job does not have. Choose among train.",
        ),
        (
            f"{V100_4},data=ml.c5.9xlarge:2",
            {"mpi": {"enabled": True}, "instance_groups": ["data"]},
            "names the instance groups data, but train train.",
        ),
    ],
)
def test_a_distribution_that_does_not_fit_is_refused_with_the_numbers(
    cluster: str, distribution: Any, words: str
) -> None:
    assert words in refusal(cluster, distribution)


def test_more_trainers_than_emulated_accelerators_are_refused() -> None:
    assert "the processes 8 cannot be larger than the device count 4" in refusal(
        V100_4, {"data": 8}, emulation=Emulation()
    )
