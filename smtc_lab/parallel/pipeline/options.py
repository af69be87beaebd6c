"""How a pipeline cuts and runs a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """How a model is cut and run."""

    microbatches: int
    """Equal parts of each batch that go through the stages one after the other."""

    schedule: str = "1f1b"
    """``gpipe``, ``1f1b``, ``interleaved1f1b``, ``loopedbfs``, ``interleavedzerobubble``,
    ``zbvzerobubble`` or ``dualpipev``."""

    stages_per_rank: int | None = None
    """Stages on each rank; None: one, or two where the schedule has several."""

    limit_bytes: float | None = None
    """What a rank may hold of parameters, gradients, optimizer and activations; None: there is
    no limit."""

    memory_weight: float = 0.0
    """0 balances time, 1 memory, as SageMaker's ``memory_weight``."""

    pins: Mapping[str, int] = field(default_factory=dict)
    """Stage of a module and all inside it, by name."""

    default_partition: int | None = None
    """Stage of what is not pinned; None: where it is best."""

    flops_per_byte: float = 100.0
    """Operations that a device does while one byte crosses to the next stage."""
