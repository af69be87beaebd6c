"""How a training job is spread over devices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from smtc_lab.errors import SpecError
from smtc_lab.spec.base import Strict

MAX_TRAINERS = 1_000
"""Our own limit for one job."""


class Distribution(Strict):
    """How many trainers a job has, and how they share its model.

    ``data`` times ``shard`` is the number of trainers. Each training instance has as many as
    its type has accelerators; where it has none, or is ``local``, as many as the product says.
    SageMaker's own dicts, also ``torch_distributed`` and ``mpi``, become one of these.
    """

    data: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = None
    """Replicas of the model, each with batches of its own; None: what the trainers leave."""

    shard: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})] = 1
    """Trainers that share the parameters of one replica (FSDP2; with several replicas HSDP)."""

    reduce_on: Literal["data_group", "auto"] | None = None
    """``data_group``: data instances also reduce gradients. ``auto``: where that is predicted
    to pay, by the network that is declared, or else the catalog's. None: the trainers do."""

    processes_per_host: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": MAX_TRAINERS})
    ] = None
    """Trainers of each training instance; None: one for each accelerator, or what the product
    leaves it."""

    instance_groups: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The groups that train, where SageMaker's dict names them; empty: as their roles say."""

    @field_validator("data", "shard", "processes_per_host")
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
    reduce_on: Literal["data_group", "auto"] | None = None,
) -> Distribution | Literal["auto"] | None:
    """Return the distribution that a command line says; None: it says nothing.

    Args:
        data: ``--data``: a number, or ``auto``.
        shard: ``--shard``.
        reduce_on: ``--reduce-on``.

    Raises:
        SpecError: One of them is no number, or out of range.
    """
    if data is None and shard is None and reduce_on is None:
        return None
    if data == "auto" and shard is None and reduce_on is None:
        return "auto"
    if data is not None and data != "auto" and not data.isdecimal():
        raise SpecError(f"--data {data[:80]!r} is not a number. Write for example --data 4.")
    replicas = None if data in {None, "auto"} else int(str(data))
    return Distribution(data=replicas, shard=1 if shard is None else shard, reduce_on=reduce_on)
