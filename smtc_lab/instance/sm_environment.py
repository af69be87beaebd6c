"""The ``SM_*`` environment of an instance, as ``sagemaker_training`` 5.1.4 derives it.

The rules were read in ``environment.py`` and ``mapping.py`` of that release; the golden files
in ``tests/golden/sagemaker_training`` come from running it. Standard library only: the agent
of an instance imports it before anything else.

Source: https://github.com/aws/sagemaker-training-toolkit
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.instance.hyperparameters import (
    Hyperparameters,
    decode_hyperparameters,
    split_hyperparameters,
    user_args,
)
from smtc_lab.instance.opt_ml import CONFIG_FOLDER, DATA_FOLDER
from smtc_lab.instance.resource_config import (
    DEFAULT_GROUP_NAME,
    DEFAULT_INSTANCE_TYPE,
    DEFAULT_NETWORK_INTERFACE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_DISTRIBUTION_GROUPS = "sagemaker_distribution_instance_groups"

_DISTRIBUTION_SWITCHES = (
    "sagemaker_mpi_enabled",
    "sagemaker_parameter_server_enabled",
    "sagemaker_distributed_dataparallel_enabled",
    "sagemaker_pytorch_ddp_enabled",
    "sagemaker_pytorch_xla_multi_worker_enabled",
    "sagemaker_multi_worker_mirrored_strategy_enabled",
    "sagemaker_torch_distributed_enabled",
)

_LOG_LEVEL_INFO = 20

_TRN2_NEURON_CORES = 64
"""What the toolkit says of ``trn2.48xlarge``; of other types it asks ``neuron-ls``."""


def sm_environment(
    base: Path, *, num_cpus: int, num_gpus: int, job_name: str, arguments: Sequence[str] = ()
) -> dict[str, str]:
    """Return the ``SM_*`` variables of an instance, byte for byte as the toolkit makes them.

    The entry point also needs ``SAGEMAKER_BASE_DIR=<base>`` and ``TRAINING_JOB_NAME``, which
    the platform sets and not the toolkit.

    Args:
        base: The folder that stands for ``/opt/ml``, written by ``write_opt_ml``. Absolute.
        num_cpus: CPUs of the instance. The toolkit counts the cores of the machine, which
            says nothing of the quota that stands for an instance here.
        num_gpus: GPUs of the instance.
        job_name: Name of the training job.
        arguments: What the entry point gets behind the hyperparameters.

    Raises:
        LauncherError: A configuration file of the tree is missing or damaged.
        SpecError: A platform hyperparameter has a value that the toolkit would crash on.
    """
    tree = _read_tree(base)
    common = {**_common_values(tree, base), "num_cpus": num_cpus, "num_gpus": num_gpus}
    values = {
        **common,
        **_own_values(tree, arguments),
        "training_env": {**common, **_training_env_values(tree), "job_name": job_name},
    }
    return {f"SM_{name.upper()}": _variable(value) for name, value in values.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tree:
    """What the configuration files of a tree say."""

    resource_config: dict[str, Any]
    """Content of ``resourceconfig.json``."""

    input_data_config: dict[str, Any]
    """Content of ``inputdataconfig.json``."""

    hyperparameters: Hyperparameters
    """Content of ``hyperparameters.json``, decoded."""

    channel_folders: dict[str, str]
    """Folder of each channel, in the order of ``inputdataconfig.json``."""

    distribution_groups: list[str]
    """Groups that run the distributed entry point."""


def _read_tree(base: Path) -> _Tree:
    resource_config = _read_config(base, "resourceconfig.json")
    input_data_config = _read_config(base, "inputdataconfig.json")
    hyperparameters = split_hyperparameters(
        decode_hyperparameters(_read_config(base, "hyperparameters.json"))
    )
    return _Tree(
        resource_config=resource_config,
        input_data_config=input_data_config,
        hyperparameters=hyperparameters,
        channel_folders={name: str(base / DATA_FOLDER / name) for name in input_data_config},
        distribution_groups=_distribution_groups(resource_config, hyperparameters.framework),
    )


def _common_values(tree: _Tree, base: Path) -> dict[str, object]:
    """Return what is both a variable of its own and a field of ``SM_TRAINING_ENV``."""
    return {
        **_folders(base),
        **_program(tree.hyperparameters.platform, base),
        **_instances(tree.resource_config),
        "resource_config": tree.resource_config,
        "input_data_config": tree.input_data_config,
        "distribution_instance_groups": tree.distribution_groups,
    }


def _own_values(tree: _Tree, arguments: Sequence[str]) -> dict[str, object]:
    """Return what is a variable of its own only."""
    values: dict[str, object] = {
        "hps": tree.hyperparameters.user,
        "framework_params": tree.hyperparameters.framework,
        "channels": sorted(tree.channel_folders),
        "user_args": [*user_args(tree.hyperparameters.user), *arguments],
    }
    if topology := tree.resource_config.get("topology"):
        values["topology"] = topology
    # Names that differ only in case share a variable; the last one wins, as in the toolkit.
    values |= {f"channel_{name}": folder for name, folder in tree.channel_folders.items()}
    values |= {f"hp_{name}": value for name, value in tree.hyperparameters.user.items()}
    return values


def _training_env_values(tree: _Tree) -> dict[str, object]:
    """Return what is a field of ``SM_TRAINING_ENV`` only."""
    return {
        **_distribution(tree.resource_config, tree.distribution_groups),
        "additional_framework_parameters": tree.hyperparameters.framework,
        "hyperparameters": tree.hyperparameters.user,
        "channel_input_dirs": tree.channel_folders,
        "topology": tree.resource_config.get("topology", []),
        # SageMaker's closed libraries, which are nowhere but in its own containers.
        "is_modelparallel_enabled": None,
        "is_smddprun_installed": False,
        "is_smddpmprun_installed": False,
    }


def _variable(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _read_config(base: Path, name: str) -> dict[str, Any]:
    path = base / CONFIG_FOLDER / name
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LauncherError(
            f"{path} cannot be read: {error}. Write the tree with write_opt_ml first."
        ) from error
    if not isinstance(content, dict):
        raise LauncherError(
            f"{path} holds {str(content)[:80]!r}, but must hold a JSON object. Write the tree "
            "with write_opt_ml first."
        )
    return content


def _folders(base: Path) -> dict[str, object]:
    return {
        "input_dir": str(base / "input"),
        "input_config_dir": str(base / CONFIG_FOLDER),
        "model_dir": str(base / "model"),
        "output_dir": str(base / "output"),
        "output_data_dir": str(base / "output/data"),
        "output_intermediate_dir": str(base / "output/intermediate"),
    }


def _program(platform: Mapping[str, Any], base: Path) -> dict[str, object]:
    program = platform.get("sagemaker_program")
    return {
        "user_entry_point": program,
        # Without a program the toolkit has the text "None" here, and no value above.
        "module_name": str(program).removesuffix(".py"),
        "module_dir": str(platform.get("sagemaker_submit_directory", base / "code")),
        "log_level": platform.get("sagemaker_container_log_level", _LOG_LEVEL_INFO),
        "framework_module": None,
    }


def _instances(resource_config: Mapping[str, Any]) -> dict[str, object]:
    groups = {
        group["instance_group_name"]: group
        for group in resource_config.get("instance_groups", [])
    }
    current_group = resource_config.get("current_group_name", DEFAULT_GROUP_NAME)
    instance_type = resource_config.get("current_instance_type", DEFAULT_INSTANCE_TYPE)
    return {
        "hosts": resource_config["hosts"],
        "current_host": resource_config["current_host"],
        "current_instance_type": instance_type,
        "current_instance_group": current_group,
        "current_instance_group_hosts": groups.get(current_group, {}).get("hosts", []),
        "instance_groups": list(groups),
        "instance_groups_dict": groups,
        "is_hetero": len(groups) > 1,
        "network_interface_name": resource_config.get(
            "network_interface_name", DEFAULT_NETWORK_INTERFACE
        ),
        "num_neurons": _TRN2_NEURON_CORES if "trn2.48xlarge" in instance_type else 0,
    }


def _distribution_groups(
    resource_config: Mapping[str, Any], framework: Mapping[str, Any]
) -> list[str]:
    """Return the groups that run the distributed entry point.

    Where a strategy is on and no group is named, the toolkit takes the group of the instance
    that asks: each group then is a distribution of its own.
    """
    if _DISTRIBUTION_GROUPS in framework:
        named = framework[_DISTRIBUTION_GROUPS]
        if not isinstance(named, list):
            raise SpecError(
                f"Hyperparameter {_DISTRIBUTION_GROUPS} is {named!r}, but must be a list of "
                f"instance group names. Write for example ['{DEFAULT_GROUP_NAME}']."
            )
        return named
    if any(framework.get(switch) for switch in _DISTRIBUTION_SWITCHES):
        return [resource_config.get("current_group_name", DEFAULT_GROUP_NAME)]
    return []


def _distribution(
    resource_config: Mapping[str, Any], distribution_groups: list[str]
) -> dict[str, object]:
    """Return the hosts of the distribution and its master, the first of them."""
    hosts = resource_config["hosts"]
    groups = resource_config.get("instance_groups", [])
    distribution_hosts = [
        host
        for group in groups
        if group["instance_group_name"] in distribution_groups
        for host in group["hosts"]
    ]
    if not groups:
        distribution_hosts = list(hosts)
    master = (distribution_hosts or hosts)[0]
    return {
        "distribution_hosts": distribution_hosts,
        "master_hostname": master,
        "is_master": resource_config["current_host"] == master,
    }
