"""SageMaker's own ``distribution`` dicts, read as a ``Distribution`` or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo

from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.sagemaker_pipeline import pipeline_fields

_STRATEGIES = ("dataparallel", "modelparallel")
_OWN = frozenset(
    {"data", "shard", "processes_per_host", "instance_groups"}
    | {"pipeline", "microbatches", "schedule", "memory_weight", "tensor"}
    | {"activation_checkpointing", "activation_offload"}
    | {"pins", "default_partition", "limit_bytes"}
)
_EXAMPLE = '{"data": 4}'
_REMEDY = 'Write {"data": 4}, or {"data": 2, "shard": 4} to shard each replica over 4 devices.'
_REFUSED = {
    "parameter_server": (
        "distribution 'parameter_server' is TensorFlow's, and runs one worker on each host. "
    ),
    "multi_worker_mirrored_strategy": (
        "distribution 'multi_worker_mirrored_strategy' is TensorFlow's. "
    ),
    "pytorchxla": (
        "distribution 'pytorchxla' needs PT-XLA on several devices, which left with the "
        "Training Compiler's images. "
    ),
}
_SWITCHED = ("torch_distributed", "pytorchddp", "mpi", *_REFUSED)


def read_distribution(given: object, info: ValidationInfo) -> Distribution | None:
    """Return the distribution that a user wrote, in our words or in SageMaker's.

    Args:
        given: A ``Distribution`` or its fields, ``auto``, None, or SageMaker's dict; one in
            which nothing is enabled is None.
        info: Whether a job that was kept is read.

    Raises:
        ValueError: It asks for what there is not, or twice; with SageMaker's sentence where it
            has one.
    """
    if given is None or isinstance(given, Distribution):
        return given
    if isinstance(given, Mapping):
        fields = _plain_fields(given)
        if fields is None:
            return None
        return Distribution.model_validate(fields, context=info.context)
    if given == "auto":
        return Distribution()
    raise ValueError(
        f"distribution {str(given)[:80]!r} is not known. Write 'auto', or {_EXAMPLE}."
    )


DistributionField = Annotated[
    Distribution | None,
    BeforeValidator(
        read_distribution, json_schema_input_type=Distribution | Literal["auto"] | None
    ),
]
"""``distribution`` of a job; ``auto`` and SageMaker's dicts are read as a ``Distribution``."""


def _plain_fields(given: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """Return fields of a ``Distribution``, where SageMaker's dict is given; None: none."""
    known = {"smdistributed", *_SWITCHED}
    if not known & given.keys():
        return given
    if unknown := [str(name) for name in given if name not in known | _OWN]:
        raise ValueError(f"distribution {unknown[0][:80]!r} is not known. {_REMEDY}")
    if own := sorted((_OWN - {"instance_groups"}) & given.keys()):
        raise ValueError(
            f"distribution says {own[0]!r} and a strategy of SageMaker's. Keep one of them."
        )
    asked = [name for name in _SWITCHED if _is_enabled(name, given.get(name))]
    if "smdistributed" in given and _wants_smdistributed(given["smdistributed"]):
        asked.append("smdistributed")
    if {"pytorchddp", "smdistributed"} <= set(asked):
        raise ValueError(
            "Cannot use both pytorchddp and smdistributed distribution options together. "
            "Drop one of them."
        )
    for name in asked:
        if name in _REFUSED:
            raise ValueError(_REFUSED[name] + _REMEDY)
    starts = [["mpi", "smdistributed"], ["torch_distributed", "smdistributed"]]
    if asked in starts and _is_modelparallel(given):
        asked = ["smdistributed"]  # SageMaker's library is started by one of them
    if len(asked) > 1:
        raise ValueError(
            f"distribution enables {' and '.join(asked)}, but a job has one strategy. Keep "
            "one of them."
        )
    return _fields(given, asked[0]) if asked else None


def _fields(given: Mapping[str, Any], asked: str) -> dict[str, Any]:
    """Return the fields of the one strategy that is asked for."""
    fields: dict[str, Any] = {}
    if asked == "smdistributed" and _is_modelparallel(given):
        fields = pipeline_fields(given["smdistributed"]["modelparallel"].get("parameters", {}))
        mpi = given.get("mpi") or {}
        if (each := mpi.get("processes_per_host")) is not None:
            fields["processes_per_host"] = each
    if asked == "mpi" and (count := given["mpi"].get("processes_per_host")) is not None:
        fields["processes_per_host"] = count
    if groups := given.get("instance_groups"):
        items = [groups] if isinstance(groups, str) or not _is_list(groups) else groups
        fields["instance_groups"] = tuple(
            getattr(group, "instance_group_name", group) for group in items
        )
    return fields


def _is_modelparallel(given: Mapping[str, Any]) -> bool:
    return "modelparallel" in (given.get("smdistributed") or {})


def _is_list(groups: object) -> bool:
    return isinstance(groups, Sequence)


def _is_enabled(name: str, options: object) -> bool:
    if options is None:
        return False
    if not isinstance(options, Mapping):
        raise ValueError(  # noqa: TRY004  pydantic tells a ValueError only
            f"distribution {name}={options!r} must be a set of names with values. Write "
            f'{{"{name}": {{"enabled": True}}}}.'
        )
    enabled = options.get("enabled", False)
    if not isinstance(enabled, bool):
        raise ValueError(  # noqa: TRY004  as above
            f"distribution {name}.enabled={enabled!r} must be true or false."
        )
    if enabled and options.get("custom_mpi_options"):
        raise ValueError(
            f"distribution {name}.custom_mpi_options={options['custom_mpi_options']!r} are for "
            "mpirun, which starts nothing here. Drop them; variables go into environment."
        )
    return enabled


def _wants_smdistributed(strategies: object) -> bool:
    """Return whether SageMaker's data parallel library is asked for.

    Raises:
        ValueError: Another one is, or none that there is; in SageMaker's words.
    """
    if not isinstance(strategies, Mapping):
        raise ValueError(  # noqa: TRY004  as above
            f"smdistributed strategy requires a dictionary, not {strategies!r}. Write "
            '{"smdistributed": {"dataparallel": {"enabled": True}}}.'
        )
    if len(strategies) > 1:
        raise ValueError(
            "Cannot use more than 1 smdistributed strategy. Choose one of the following "
            f"supported strategies: {list(_STRATEGIES)}."
        )
    for name, options in strategies.items():
        if name not in _STRATEGIES:
            raise ValueError(
                f"Invalid smdistributed strategy provided: {str(name)[:80]}. Supported "
                f"strategies: {list(_STRATEGIES)}."
            )
        if not _is_enabled(f"smdistributed.{name}", options):
            return False
    return bool(strategies)
