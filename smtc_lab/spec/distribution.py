"""How a training job is spread over devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from smtc_lab.errors import SpecError
from smtc_lab.spec.base import Strict
from smtc_lab.spec.pipeline_placement import placement_problem

MAX_TRAINERS = 1_000
"""Our own limit for one job."""

Schedule = Literal[
    "gpipe",
    "1f1b",
    "interleaved1f1b",
    "loopedbfs",
    "interleavedzerobubble",
    "zbvzerobubble",
    "dualpipev",
]
"""The schedules of ``torch.distributed.pipelining``."""

KEPT = {"kept": True}
"""Context in which a spec is validated that was kept, maybe by an older version."""

TAKEN_OUT = (
    "was taken out: data instances added up gradients of models on CPUs alone, and nothing on "
    "accelerators. Leave it out; the trainers add them up."
)
"""What is said of ``reduce_on``."""

_SPLITTING = ("interleavedzerobubble", "zbvzerobubble", "dualpipev")
MICROBATCHES_EACH = 2
"""Microbatches for each rank of a pipeline, where their number is not given."""


class Distribution(Strict):
    """How many trainers a job has, and how they share its model.

    ``data`` times ``shard`` times ``pipeline`` times ``tensor`` is the number of trainers. Each
    training instance has as many as its type has accelerators; where it has none, or is
    ``local``, as many as the product says. Ranks count through ``tensor`` first and through
    ``pipeline`` last. SageMaker's own dicts, also ``torch_distributed`` and ``mpi``, become one
    of these.
    """

    data: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = None
    """Replicas of the model, each with batches of its own; None: what the trainers leave."""

    shard: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})] = 1
    """Trainers that share the parameters of one replica (FSDP2; with several replicas HSDP)."""

    pipeline: Annotated[
        int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = 1
    """Trainers that each run a stage of one replica, cut where it is best. The script calls
    ``session.step``."""

    microbatches: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = None
    """Equal parts of each batch that go through the stages one after the other; None: two for
    each trainer of the pipeline."""

    schedule: Schedule = "1f1b"
    """In which order the stages of a pipeline compute."""

    tensor: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})] = 1
    """Trainers of one instance that each have a part of every layer of a replica, where its
    blocks are known. The script calls ``session.prepare``."""

    memory_weight: Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})] = 0.0
    """What the stages of a pipeline are cut by: 0 equal times, 1 equal memory."""

    activation_checkpointing: bool = False
    """Whether layers keep their inputs alone, and compute their activations again in the
    backward pass. The script calls ``session.prepare``."""

    activation_offload: bool = False
    """Whether what layers keep for the backward pass waits in host memory; on GPUs, alone or
    with ``activation_checkpointing``. The script calls ``session.prepare``."""

    pins: dict[str, int] = Field(default_factory=dict)
    """Stage of a module of a pipeline, and of all inside it, by its name; the rest is cut where
    it is best."""

    default_partition: Annotated[
        int | None, Field(json_schema_extra={"minimum": 0, "maximum": 2 * MAX_TRAINERS})
    ] = None
    """Stage of all modules that are not pinned; None: where it is best."""

    limit_bytes: Annotated[float | None, Field(json_schema_extra={"minimum": 1})] = None
    """What each trainer of a pipeline may hold: parameters, gradients, optimizer, activations.
    None: what an emulated device has; on other devices there is no limit."""

    processes_per_host: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = None
    """Trainers of each training instance; None: one for each accelerator, or what the product
    leaves it."""

    instance_groups: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The groups that train, where SageMaker's dict names them; empty: as their roles say."""

    @property
    def per_replica(self) -> int:
        """Trainers of one replica of the model."""
        return self.shard * self.pipeline * self.tensor

    def replicas(self, trainers: int) -> int:
        """Return how many replicas of the model so many trainers make."""
        return max(1, trainers // self.per_replica)

    @property
    def num_microbatches(self) -> int:
        """Microbatches of a step of a pipeline; 1: there is no pipeline."""
        if self.pipeline == 1:
            return 1
        return self.microbatches or MICROBATCHES_EACH * self.pipeline

    @model_validator(mode="before")
    @classmethod
    def _nobody_else_reduces(cls, given: Any, info: ValidationInfo) -> Any:  # noqa: ANN401  whatever was given
        if not isinstance(given, Mapping) or "reduce_on" not in given:
            return given
        asked = given["reduce_on"]
        if asked is not None and info.context is not KEPT:
            raise ValueError(f"distribution.reduce_on={str(asked)[:80]!r} {TAKEN_OUT}")
        return {name: value for name, value in given.items() if name != "reduce_on"}

    @model_validator(mode="after")
    def _placement_is_legal(self) -> Self:
        problem = placement_problem(
            self.pipeline,
            self.schedule,
            pins=self.pins,
            default_partition=self.default_partition,
            limit_bytes=self.limit_bytes,
        )
        if problem is not None:
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _pipeline_can_run(self) -> Self:
        if self.pipeline == 1:
            if self.microbatches is not None:
                raise ValueError(
                    f"distribution.microbatches={self.microbatches}, but there is no pipeline "
                    "that they go through. Add pipeline, or drop microbatches; where a "
                    "pipeline is compared with none, name those of the pipeline alone."
                )
            return self
        if self.shard * self.tensor > 1 and self.schedule in _SPLITTING:
            told = f"shard={self.shard}" if self.shard > 1 else f"tensor={self.tensor}"
            raise ValueError(
                f"distribution.{told} with schedule={self.schedule}, which computes gradients "
                "of weights apart from those of inputs, while trainers exchange in between. "
                "Take 1f1b or interleaved1f1b."
            )
        least = self.pipeline * (2 if self.schedule == "dualpipev" else 1)
        if self.num_microbatches < least:
            raise ValueError(
                f"distribution.microbatches={self.microbatches}, but {self.schedule} over "
                f"{self.pipeline} trainers needs at least {least}. Take {least} or more."
            )
        return self

    @field_validator("memory_weight")
    @classmethod
    def _weight_is_legal(cls, weight: float) -> float:
        if not 0 <= weight <= 1:
            raise ValueError(
                f"distribution.memory_weight={weight} is outside 0 to 1. Take 0 to balance "
                "time alone, or 1 to balance memory alone."
            )
        return weight

    @field_validator(
        "data", "shard", "pipeline", "tensor", "microbatches", "processes_per_host"
    )
    @classmethod
    def _count_is_legal(cls, count: int | None, info: ValidationInfo) -> int | None:
        if count is not None and not 1 <= count <= MAX_TRAINERS:
            raise ValueError(
                f"distribution.{info.field_name}={count} is outside 1 to {MAX_TRAINERS}. "
                "Change it, or leave it out."
            )
        return count


def parse_distribution(
    data: str | None,
    shard: int | None,
    **pipeline: Any,  # noqa: ANN401  fields of a Distribution
) -> Distribution | None:
    """Return the distribution that a command line says; None: it says nothing.

    Args:
        data: ``--data``: a number, or ``auto``.
        shard: ``--shard``.
        **pipeline: ``--pipeline``, ``--microbatches``, ``--schedule`` and ``--tensor``; None:
            not given.

    Raises:
        SpecError: One of them is no number, or out of range.
    """
    staged = {name: value for name, value in pipeline.items() if value is not None}
    if data is None and shard is None and not staged:
        return None
    if data is not None and data != "auto" and not data.isdecimal():
        raise SpecError(f"--data {data[:80]!r} is not a number. Write for example --data 4.")
    replicas = None if data in {None, "auto"} else int(str(data))
    shards = 1 if shard is None else shard
    return Distribution(data=replicas, shard=shards, **staged)
