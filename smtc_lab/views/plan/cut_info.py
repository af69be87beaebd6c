"""What a picture of a planned pipeline shows. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/planned_cut.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class PlannedModuleInfo:
    """One module that is on a stage."""

    name: str
    """As the model names it."""

    time: float
    """Predicted for one microbatch, forward and backward, in the unit of the model."""


@dataclass(frozen=True, kw_only=True)
class PlannedModelInfo:
    """A model that is cut into stages: what stays the same wherever it is cut."""

    modules: tuple[PlannedModuleInfo, ...]
    """In the order in which they run."""

    unit: Literal["s", "fraction"]
    """Of all times: seconds, or shares of a step of one device, of which no time is known."""

    schedule: str
    """In which order stages compute."""

    microbatches: int
    """Equal parts of a batch."""

    is_measured: bool
    """Whether modules count with what they took on this machine; else by their operations."""

    best_starts: tuple[int, ...] | None
    """First module of each stage of the best automatic cut; None: none fits."""

    best_step: float | None
    """Predicted step with that cut, in the unit of the model; None: none fits."""


@dataclass(frozen=True, kw_only=True)
class PlannedStageInfo:
    """One stage of a planned pipeline."""

    rank: int
    """Rank of the pipeline that computes it."""

    time: float
    """Predicted for one microbatch, forward and backward, in the unit of the model."""

    held_bytes: float
    """Parameters, gradients, optimizer and activations, predicted."""

    limit_bytes: float | None
    """What it may hold; None: there is no limit."""

    received_bytes: int
    """What comes from the stage before, for each microbatch."""


@dataclass(frozen=True, kw_only=True)
class PlannedCutInfo:
    """Where a model is cut, and what that is predicted to bring."""

    answer: int
    """Number of the message that this answers; 0: the first cut, which nobody asked for."""

    starts: tuple[int, ...]
    """First module of each stage."""

    stages: tuple[PlannedStageInfo, ...]
    """In the order in which they run."""

    step: float
    """Predicted time of a step, in the unit of the model."""

    speed_up: float
    """Times as fast as one device, which would have to hold the whole model."""

    sentence: str
    """What bounds this cut."""

    refused: str
    """Why the cut that was asked for is not this one; empty: it is."""

    code: str
    """Lines of Python that cut a job's model here."""

    idle_fraction: float | None = None
    """Share of a step that ranks are idle, 0 to 1; None: a version before told it otherwise."""
