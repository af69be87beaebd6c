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


def model_parallel(parameters: Any) -> dict[str, Any]:
    return {"smdistributed": {"modelparallel": {"enabled": True, "parameters": parameters}}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("auto", Distribution()),
        ({"data": 4}, Distribution(data=4)),
        ({"data": 2, "shard": 4}, Distribution(data=2, shard=4)),
        ({"shard": 4}, Distribution(shard=4)),
        ({"data": 4, "reduce_on": None}, Distribution(data=4)),
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
        (
            {
                "torch_distributed": {"enabled": True},
                **model_parallel({"tensor_parallel_degree": 2, "hybrid_shard_degree": 4}),
            },
            Distribution(tensor=2, shard=4, memory_weight=0.8),
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
        ({"expert": 2}, "Distribution.expert=2 is not a field of this spec."),
        ({"tensor": 0}, "distribution.tensor=0 is outside 1 to 1000."),
        ({"reduce_on": "auto"}, "distribution.reduce_on='auto' was taken out: data instances"),
        (
            {"tensor": 2, "pipeline": 2, "schedule": "zbvzerobubble"},
            "tensor=2 with schedule=zbvzerobubble, which computes gradients of weights apart",
        ),
        (
            {"pipeline": 2, "shard": 2, "schedule": "dualpipev"},
            "shard=2 with schedule=dualpipev, which computes gradients of weights apart",
        ),
        ({"microbatches": 3}, "microbatches=3, but there is no pipeline that they go through."),
        (
            {"pipeline": 4, "microbatches": 2},
            "microbatches=2, but 1f1b over 4 trainers needs at least 4. Take 4 or more.",
        ),
        ({"pipeline": 2, "memory_weight": 3.0}, "memory_weight=3.0 is outside 0 to 1."),
        ({"pins": {"head": 1}}, "distribution.pins={'head': 1}, but there is no pipeline"),
        ({"default_partition": 0}, "default_partition=0, but there is no pipeline that is cut"),
        (
            {"pipeline": 2, "pins": {"head": 2}},
            "distribution.pins['head']=2 is no stage: 1f1b has 2 here, from 0 to 1.",
        ),
        (
            {"pipeline": 2, "schedule": "interleaved1f1b", "pins": {"head": 4}},
            "distribution.pins['head']=4 is no stage: interleaved1f1b has 4 here, from 0 to 3.",
        ),
        ({"pipeline": 2, "pins": {"": 0}}, "has a module whose name is 0 characters long"),
        ({"pipeline": 2, "pins": {"head": "last"}}, "pins.head='last' must be a whole number"),
        (
            {"pipeline": 2, "default_partition": -1},
            "distribution.default_partition=-1 is no stage",
        ),
        ({"pipeline": 2, "limit_bytes": 0.0}, "limit_bytes=0.0 must be at least 1."),
        (
            {"pipeline": 2, "pins": {f"layers.{n}": 0 for n in range(1_001)}},
            "distribution.pins has 1,001 modules, but at most 1,000 can be pinned.",
        ),
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
            model_parallel({}),
            "smdistributed.modelparallel has no partitions, but needs one number",
        ),
        (
            model_parallel({"partitions": 2, "pipeline": "odd"}),
            "smdistributed.modelparallel.pipeline='odd' is not known. Write one of",
        ),
        (
            model_parallel({"partitions": 2, "sharded_data_parallel_degree": 4}),
            "sharded_data_parallel_degree=4 is not done in this version. Write 1, or drop it.",
        ),
        (
            model_parallel({"partitions": 2, "auto_partition": False, "pins": {"head": 1}}),
            'auto_partition=False needs default_partition: modules are placed by "pins"',
        ),
        (
            model_parallel({"partitions": 2, "auto_partition": False, "default_partition": 0}),
            "auto_partition=False needs pins: modules are placed by",
        ),
        (
            model_parallel({"partitions": 2, "auto_partition": "no"}),
            "smdistributed.modelparallel.auto_partition='no' must be true or false.",
        ),
        (
            model_parallel({"partitions": 2, "offload_activations": "yes"}),
            "smdistributed.modelparallel.offload_activations='yes' must be true or false.",
        ),
        (
            model_parallel({"partitions": 2, "activation_loading_horizon": 0}),
            "activation_loading_horizon=0 must be a whole number of layers, at least 1.",
        ),
        ({"activation_offload": 1}, "Distribution.activation_offload=1 must be true or false"),
        (
            model_parallel({"partitions": 2, "zap": 1}),
            "smdistributed.modelparallel.zap is not known, or not in this version. Drop it.",
        ),
        (
            {
                "pytorchddp": {"enabled": True},
                "smdistributed": {"dataparallel": {"enabled": True}},
            },
            "Cannot use both pytorchddp and smdistributed distribution options together.",
        ),
        (
            {
                "mpi": {"enabled": True},
                "torch_distributed": {"enabled": True},
                **model_parallel({"partitions": 2}),
            },
            "distribution enables torch_distributed and mpi and smdistributed, but a job",
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


def test_parameters_of_sagemakers_model_parallel_library_become_a_pipeline() -> None:
    parameters = {
        "pipeline_parallel_degree": 4,
        "microbatches": 8,
        "pipeline": "simple",
        "optimize": "speed",
        "placement_strategy": "spread",
        "ddp": True,
    }
    mpi = {"mpi": {"enabled": True, "processes_per_host": 4}}

    assert distribution(model_parallel(parameters) | mpi) == Distribution(
        pipeline=4, microbatches=8, schedule="gpipe", memory_weight=0.2, processes_per_host=4
    )


@pytest.mark.parametrize(
    ("parameters", "degrees"),
    [
        (
            {
                "pipeline_parallel_degree": 2,
                "offload_activations": True,
                "activation_loading_horizon": 4,
            },
            {"pipeline": 2},
        ),
        (
            {
                "hybrid_shard_degree": 4,
                "sm_activation_offloading": True,
                "activation_loading_horizon": 2,
            },
            {"shard": 4},
        ),
    ],
)
def test_both_of_sagemakers_libraries_move_what_checkpointed_layers_keep(
    parameters: dict[str, Any], degrees: dict[str, int]
) -> None:
    assert distribution(model_parallel(parameters)) == Distribution(
        **degrees, memory_weight=0.8, activation_offload=True, activation_checkpointing=True
    )


@pytest.mark.parametrize("name", ["offload_activations", "sm_activation_offloading"])
def test_activations_stay_where_sagemakers_libraries_are_not_asked(name: str) -> None:
    asked = distribution(model_parallel({"partitions": 2, name: False}))

    assert asked == Distribution(pipeline=2, memory_weight=0.8)


def test_modules_that_sagemakers_library_is_not_to_place_are_pinned() -> None:
    parameters = {"partitions": 2, "auto_partition": False, "default_partition": 0}

    assert distribution(model_parallel({**parameters, "pins": {"head": 1}})) == Distribution(
        pipeline=2, memory_weight=0.8, pins={"head": 1}, default_partition=0
    )
    automatic = {"partitions": 2, "auto_partition": True, "default_partition": 1}
    assert distribution(model_parallel(automatic)).default_partition is None, (
        "it is of effect only where modules are not placed automatically"
    )


def test_a_pipeline_has_two_microbatches_for_each_trainer() -> None:
    three = Distribution(pipeline=3)

    assert (three.data, three.per_replica, three.num_microbatches) == (None, 3, 6)
    assert Distribution(shard=3).num_microbatches == 1


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        ({"tensor_parallel_degree": 4}, Distribution(tensor=4, memory_weight=0.8)),
        (
            {"tensor_parallel_degree": 2, "pipeline_parallel_degree": 2, "microbatches": 4},
            Distribution(tensor=2, pipeline=2, microbatches=4, memory_weight=0.8),
        ),
    ],
)
def test_a_degree_of_tensor_parallelism_is_taken_from_sagemakers_library(
    degrees: dict[str, int], expected: Distribution
) -> None:
    assert distribution(model_parallel(degrees)) == expected
