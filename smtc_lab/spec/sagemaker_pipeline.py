"""Parameters of SageMaker's model parallel library, read as a pipeline or refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEGREES = ("pipeline_parallel_degree", "partitions")
_OFFLOADS = ("offload_activations", "sm_activation_offloading")
"""As the library's first version has it, and its second."""

_SCHEDULES = {"interleaved": "1f1b", "simple": "gpipe"}
_WEIGHTS = {"speed": 0.2, "memory": 0.8}
_WITHOUT_EFFECT: dict[str, tuple[object, ...]] = {
    "ddp": (True, False),
    "horovod": (False,),
    "contiguous": (True,),
    "placement_strategy": ("cluster", "spread"),
    "deterministic_server": (True, False),
    "sharded_data_parallel_degree": (1,),
    "fp16": (False,),
    "fp16_params": (False,),
    "shard_optimizer_state": (False,),
    "prescaled_batch": (False,),
    "skip_tracing": (True, False),
}
"""What is as it would be without them, at these values."""


def pipeline_fields(parameters: object) -> dict[str, Any]:
    """Return fields of a ``Distribution`` for the library's ``parameters``.

    Args:
        parameters: As in ``smdistributed.modelparallel.parameters``.

    Raises:
        ValueError: One is not known, or has a value that there is not here.
    """
    if not isinstance(parameters, Mapping):
        raise ValueError(  # noqa: TRY004  pydantic tells a ValueError only
            f"distribution smdistributed.modelparallel.parameters={parameters!r} must be a set "
            'of names with values. Write {"partitions": 2, "microbatches": 4}.'
        )
    given = dict(parameters)
    degrees = {name: given.pop(name) for name in _DEGREES if name in given}
    tensor = given.pop("tensor_parallel_degree", 1)
    shard = given.pop("hybrid_shard_degree", 1) or 1
    if not degrees and (tensor, shard) != (1, 1):
        degrees = {_DEGREES[0]: 1}  # a library that divides or shards layers needs no stages
    if len(set(degrees.values())) != 1:
        raise ValueError(
            f"smdistributed.modelparallel has {degrees or 'no partitions'}, but needs one "
            'number of partitions. Write "pipeline_parallel_degree": 2.'
        )
    schedule = _chosen(given, "pipeline", "interleaved", _SCHEDULES)
    weight = _chosen(given, "optimize", "memory", _WEIGHTS)
    fields: dict[str, Any] = {
        "pipeline": next(iter(degrees.values())),
        "schedule": schedule,
        "memory_weight": given.pop("memory_weight", weight),
        "tensor": tensor,
        "shard": shard,
        **_offloaded(given),
    }
    microbatches, placed = given.pop("microbatches", None), _placed(given)
    if fields["pipeline"] != 1:
        fields |= {"microbatches": microbatches, **placed}
    for name, value in given.items():
        if name not in _WITHOUT_EFFECT:
            raise ValueError(
                f"smdistributed.modelparallel.{str(name)[:80]} is not known, or not in this "
                "version. Drop it."
            )
        if value not in _WITHOUT_EFFECT[name]:
            known = " or ".join(map(repr, _WITHOUT_EFFECT[name]))
            raise ValueError(
                f"smdistributed.modelparallel.{name}={value!r} is not done in this version. "
                f"Write {known}, or drop it."
            )
    return fields


def _offloaded(given: dict[str, Any]) -> dict[str, bool]:
    """Return the fields that move activations; the names of both versions are taken out.

    The library moves what checkpointed layers keep, so both are asked for. Each layer's comes
    back when it is needed, which is within any ``activation_loading_horizon``.
    """
    horizon = given.pop("activation_loading_horizon", 1)
    if not isinstance(horizon, int) or isinstance(horizon, bool) or horizon < 1:
        raise ValueError(
            f"smdistributed.modelparallel.activation_loading_horizon={horizon!r} must be a "
            "whole number of layers, at least 1. Drop it: each layer's come back when needed."
        )
    is_wanted = False
    for name in _OFFLOADS:
        value = given.pop(name, False)
        if not isinstance(value, bool):
            raise ValueError(  # noqa: TRY004  as above
                f"smdistributed.modelparallel.{name}={value!r} must be true or false."
            )
        is_wanted |= value
    if not is_wanted:
        return {}
    return {"activation_offload": True, "activation_checkpointing": True}


def _placed(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that say where modules go; their names are taken out.

    In a script of SageMaker's, ``smp.partition`` names the modules; here ``pins`` does.
    """
    is_automatic = given.pop("auto_partition", True)
    default, pins = given.pop("default_partition", None), given.pop("pins", {})
    if not isinstance(is_automatic, bool):
        raise ValueError(  # noqa: TRY004  as above
            f"smdistributed.modelparallel.auto_partition={is_automatic!r} must be true or "
            "false. Write True, which cuts the model where it is best."
        )
    if is_automatic:
        return {"pins": pins}
    if default is None or not pins:
        missing = "default_partition" if default is None else "pins"
        raise ValueError(
            f"smdistributed.modelparallel.auto_partition=False needs {missing}: modules are "
            'placed by "pins": {"head": 1}, in place of smp.partition(1) in the script, and '
            'all others by "default_partition": 0. Write both, or auto_partition=True.'
        )
    return {"pins": pins, "default_partition": default}


def _chosen(given: dict[str, Any], name: str, default: str, table: Mapping[str, Any]) -> Any:  # noqa: ANN401  a value of the table
    value = given.pop(name, default)
    if value not in table:
        raise ValueError(
            f"smdistributed.modelparallel.{name}={value!r} is not known. Write one of "
            f"{', '.join(table)}."
        )
    return table[value]
