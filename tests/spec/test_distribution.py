from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob

CLUSTER = Cluster.parse("dnn_group=ml.p3.8xlarge:2,data_group=ml.c5.9xlarge:1")


def distribution(given: Any) -> Any:
    return TrainingJob(entry_point="train.py", cluster=CLUSTER, distribution=given).distribution


def refusal(given: Any) -> str:
    with pytest.raises(SpecError) as refused:
        distribution(given)
    return "\n".join(refused.value.problems)


def test_a_job_says_nothing_of_its_distribution_unless_told() -> None:
    assert TrainingJob(entry_point="train.py", cluster=CLUSTER).distribution is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("auto", "auto"),
        ({"data": 4}, Distribution(data=4)),
        ({"data": 2, "shard": 4}, Distribution(data=2, shard=4)),
        ({"shard": 4}, Distribution(shard=4)),
        (
            {"data": 4, "reduce_on": "data_group"},
            Distribution(data=4, reduce_on="data_group"),
        ),
        (Distribution(data=4), Distribution(data=4)),
    ],
)
def test_a_distribution_is_said_in_one_argument(given: Any, expected: Any) -> None:
    assert distribution(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"torch_distributed": {"enabled": True}}, Distribution()),
        ({"pytorchddp": {"enabled": True}}, Distribution()),
        ({"smdistributed": {"dataparallel": {"enabled": True}}}, Distribution()),
        ({"mpi": {"enabled": True}}, Distribution()),
        (
            {"mpi": {"enabled": True, "processes_per_host": 8}},
            Distribution(processes_per_host=8),
        ),
        (
            {
                "torch_distributed": {"enabled": True},
                "instance_groups": [InstanceGroup("dnn_group", "ml.p3.8xlarge", 2)],
            },
            Distribution(instance_groups=("dnn_group",)),
        ),
        ({"torch_distributed": {"enabled": False}}, None),
        (
            {"pytorchddp": {"enabled": False}, "torch_distributed": {"enabled": True}},
            Distribution(),
        ),
    ],
)
def test_sagemakers_dicts_are_taken_as_they_are(given: Any, expected: Any) -> None:
    assert distribution(given) == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("ddp", "distribution 'ddp' is not known. Write 'auto', or {\"data\": 4}."),
        ({"data": 0}, "distribution.data=0 is outside 1 to 1000."),
        ({"data": 2.0}, "must be a whole number"),
        ({"pipeline": 2}, "Distribution.pipeline=2 is not a field of this spec."),
        (
            {"parameter_server": {"enabled": True}},
            "distribution 'parameter_server' is TensorFlow's",
        ),
        ({"pytorchxla": {"enabled": True}}, "distribution 'pytorchxla' needs PT-XLA"),
        (
            {"multi_worker_mirrored_strategy": {"enabled": True}},
            "'multi_worker_mirrored_strategy' is TensorFlow's",
        ),
        ({"smdistributed": 3}, "smdistributed strategy requires a dictionary, not 3."),
        (
            {"smdistributed": {"dataparallel": {}, "modelparallel": {}}},
            "Cannot use more than 1 smdistributed strategy.",
        ),
        (
            {"smdistributed": {"sharded": {"enabled": True}}},
            "Invalid smdistributed strategy provided: sharded.",
        ),
        (
            {"smdistributed": {"modelparallel": {"enabled": True}}},
            "'smdistributed.modelparallel' splits a model into partitions",
        ),
        (
            {
                "pytorchddp": {"enabled": True},
                "smdistributed": {"dataparallel": {"enabled": True}},
            },
            "Cannot use both pytorchddp and smdistributed distribution options together.",
        ),
        (
            {"mpi": {"enabled": True}, "torch_distributed": {"enabled": True}},
            "distribution enables torch_distributed and mpi, but a job has one strategy.",
        ),
        (
            {"mpi": {"enabled": True, "custom_mpi_options": "-x A=1"}},
            "distribution mpi.custom_mpi_options='-x A=1' are for mpirun",
        ),
        ({"mpi": {"enabled": True}, "horovod": {}}, "distribution 'horovod' is not known."),
        ({"mpi": {"enabled": True}, "data": 4}, "says 'data' and a strategy of SageMaker's."),
        ({"torch_distributed": True}, 'Write {"torch_distributed": {"enabled": True}}.'),
        ({"torch_distributed": {"enabled": "yes"}}, "enabled='yes' must be true or false"),
    ],
)
def test_what_there_is_not_is_refused_by_name(given: Any, words: str) -> None:
    assert words in refusal(given)
