"""The trees that the golden files of ``sagemaker_training`` are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from smtc_lab.instance.resource_config import assign_hosts


@dataclass(frozen=True, kw_only=True)
class Group:
    """An instance group of a case."""

    name: str
    instance_type: str
    count: int
    num_cpus: int
    num_gpus: int = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """A tree that our code writes and the toolkit reads."""

    name: str
    groups: list[Group]
    hyperparameters: dict[str, Any] = field(default_factory=dict)

    channels: list[str] = field(default_factory=list)

    texts: dict[str, str] = field(default_factory=dict)
    """Hyperparameters that some other tool wrote as text that is not JSON."""

    resource_config_changes: dict[str, Any] = field(default_factory=dict)
    """What another platform writes otherwise; None removes a key."""

    @classmethod
    def from_json(cls, wire: dict[str, Any]) -> Case:
        return cls(**{**wire, "groups": [Group(**group) for group in wire["groups"]]})

    def hosts(self) -> dict[str, Group]:
        assigned = assign_hosts([(g.name, g.instance_type, g.count) for g in self.groups])
        return {
            host: group
            for group, names in zip(self.groups, assigned, strict=True)
            for host in names.hosts
        }


SDK_V2 = {
    "sagemaker_program": "train.py",
    "sagemaker_submit_directory": "s3://bucket/job/source/sourcedir.tar.gz",
    "sagemaker_container_log_level": 20,
    "sagemaker_job_name": "golden-job",
    "sagemaker_region": "us-east-1",
}
"""What the SageMaker SDK v2 adds to the hyperparameters of every framework job."""

DATA_GROUP = Group(
    name="data_group", instance_type="ml.c5.18xlarge", count=2, num_cpus=72, num_gpus=0
)
DNN_GROUP = Group(
    name="dnn_group", instance_type="ml.p4d.24xlarge", count=1, num_cpus=96, num_gpus=8
)
ONE_GPU = Group(
    name="homogeneousCluster", instance_type="ml.g5.xlarge", count=1, num_cpus=4, num_gpus=1
)

CASES = [
    Case(
        name="heterogeneous",
        groups=[DATA_GROUP, DNN_GROUP],
        hyperparameters={"epochs": 3, "lr": 0.1, **SDK_V2},
        channels=["train"],
    ),
    Case(
        name="heterogeneous_with_a_distribution_group",
        groups=[
            DATA_GROUP,
            Group(
                name="dnn_group",
                instance_type="ml.p4d.24xlarge",
                count=2,
                num_cpus=96,
                num_gpus=8,
            ),
        ],
        hyperparameters={
            "sagemaker_program": "train.py",
            "sagemaker_mpi_enabled": True,
            "sagemaker_mpi_num_of_processes_per_host": 8,
            "sagemaker_distribution_instance_groups": ["dnn_group"],
        },
        channels=["train", "validation"],
    ),
    Case(
        name="heterogeneous_torch_distributed_as_sdk_v2_sends_it",
        groups=[DATA_GROUP, DNN_GROUP],
        hyperparameters={
            "sagemaker_program": "train.py",
            "sagemaker_torch_distributed_enabled": True,
        },
    ),
    Case(
        name="heterogeneous_numbers_of_two_digits",
        groups=[
            Group(name="data_group", instance_type="ml.c5.9xlarge", count=8, num_cpus=36),
            Group(
                name="dnn_group",
                instance_type="ml.p3.2xlarge",
                count=3,
                num_cpus=8,
                num_gpus=1,
            ),
        ],
        hyperparameters={
            "sagemaker_distribution_instance_groups": ["dnn_group"],
            "sagemaker_mpi_enabled": True,
        },
    ),
    Case(
        name="homogeneous_of_12_hosts",
        groups=[
            Group(
                name="homogeneousCluster",
                instance_type="ml.g5.xlarge",
                count=12,
                num_cpus=4,
                num_gpus=1,
            )
        ],
        hyperparameters={"sagemaker_program": "train.py", "batch-size": 64},
        channels=["training"],
    ),
    Case(
        name="homogeneous_with_a_distribution",
        groups=[ONE_GPU],
        hyperparameters={
            "sagemaker_program": "train.py",
            "sagemaker_mpi_enabled": False,
            "sagemaker_pytorch_ddp_enabled": True,
        },
    ),
    Case(
        name="no_gpu",
        groups=[
            Group(name="homogeneousCluster", instance_type="ml.c5.xlarge", count=1, num_cpus=4)
        ],
        hyperparameters={"sagemaker_program": "train.py"},
        channels=["train"],
    ),
    Case(
        name="neuron_cores",
        groups=[Group(name="trn", instance_type="ml.trn2.48xlarge", count=1, num_cpus=192)],
        hyperparameters={"sagemaker_program": "train.py"},
    ),
    Case(
        name="every_kind_of_hyperparameter",
        groups=[ONE_GPU],
        hyperparameters={
            "nested": {"b": 1, "a": {"deep": [1, {"x": None}]}, "flag": True, "none": None},
            "empty_dict": {},
            "list": [1, "two", 3.5, None, False],
            "empty_list": [],
            "yes": True,
            "no": False,
            "nothing": None,
            "integer": -7,
            "large": 12345678901234567890,
            "float": 1e-05,
            "exponent": 1e22,
            "text": "plain text",
            "number_as_text": "5",
            "empty_text": "",
            "unicode": "Grüße, 世界 🙂",
            "quotes": "say \"hi\" \\ 'there'\n\ttab",
            "ключ": "unicode name",
            "k": "single letter",
            "Upper": 1,
            "with-dash": "a",
            "with.dot": "b",
            "dict_of_text": {"key": "välue", "a=b": "c,d"},
            "mp_parameters": {"partitions": 2},
        },
    ),
    Case(
        name="hyperparameters_of_the_platform",
        groups=[ONE_GPU],
        hyperparameters={
            **SDK_V2,
            "sagemaker_program": "package.module",
            "sagemaker_enable_cloudwatch_metrics": False,
            "sagemaker_s3_output": "s3://bucket/output",
            "sagemaker_container_log_level": 10,
            "sagemaker_anything_else": {"kept": "as a framework parameter"},
            "default_user_module_name": "module",
            "_tuning_objective_metric": "loss",
            "_tuning_objective": "not the platform's",
            "lr": 0.1,
        },
    ),
    Case(
        name="text_hyperparameters",
        groups=[ONE_GPU],
        hyperparameters={"lr": 0.1},
        texts={
            "plain": "plain text",
            "number": "0.1",
            "nan": "NaN",
            "list": "[1, 2",
            "quoted": "'single'",
            "sagemaker_program": "train.py",
        },
    ),
    Case(
        name="names_that_differ_in_case",
        groups=[ONE_GPU],
        hyperparameters={"lr": 1, "LR": 2, "Lr": 3},
        channels=["Train", "train"],
    ),
    Case(name="no_channels_and_no_hyperparameters", groups=[ONE_GPU]),
    Case(
        name="several_channels",
        groups=[ONE_GPU],
        hyperparameters={"sagemaker_program": "bin/train.sh"},
        channels=["validation", "train", "test-set", "v1.0_images"],
    ),
    Case(
        name="another_network_interface_and_a_topology",
        groups=[DNN_GROUP],
        resource_config_changes={
            "network_interface_name": "lo",
            "topology": [{"hostName": "algo-1", "capacityUnitId": "unit-1"}],
        },
    ),
    Case(
        name="a_resource_config_without_groups",
        groups=[ONE_GPU],
        hyperparameters={"sagemaker_program": "train.py", "sagemaker_mpi_enabled": True},
        resource_config_changes={
            "current_group_name": None,
            "current_instance_type": None,
            "instance_groups": None,
            "network_interface_name": None,
        },
    ),
]
