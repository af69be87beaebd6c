"""What a browser is told of a model that is cut into the stages of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Span = Literal["forward", "backward", "weight", "wait", "transfer"]
"""What a rank does: ``weight`` are gradients of weights where a schedule computes them apart;
``wait``: what it needs next is still computed on another rank, or nothing is left to do;
``transfer``: it was computed, and has not come."""


@dataclass(frozen=True, kw_only=True)
class PipelineStageInfo:
    """One stage of the model."""

    rank: int
    """Place of its rank among those of the pipeline, from 0."""

    modules: str
    """Its first and its last module."""

    num_modules: int
    """Modules in it."""

    flops_fraction: float
    """Share of the model's operations, 0 to 1: what the cut expected of its time."""

    time_fraction: float | None
    """Share of the time that all stages compute, 0 to 1; None: no step was timed yet."""

    forward_s: float | None
    """Mean time of the forward of a microbatch, in seconds; None: as above."""

    backward_s: float | None
    """Mean time of the backward of a microbatch, in seconds; None: as above."""

    memory_bytes: float
    """What it holds at most, as the cut predicts it."""

    limit_bytes: float | None
    """What it may hold; None: there is no limit."""


@dataclass(frozen=True, kw_only=True)
class PipelineRankInfo:
    """One rank of the pipeline, means of a step. None: no step was timed yet."""

    rank: int
    """Its rank in the job."""

    host: str
    """Its instance."""

    busy_fraction: float | None
    """Share of the step in which it computes, 0 to 1."""

    wait_fraction: float | None
    """Share of the step in which it waits for another rank to compute, or has nothing left to
    do, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class TimelineInfo:
    """What ranks did in a step, or were predicted to do; a column for each field of a span."""

    step: int
    """Number of the step, from 0."""

    window_s: float
    """From the first to the last computation of any rank, in seconds."""

    left_out: int
    """Spans at its end that are left out, as there are too many."""

    rank: tuple[int, ...]
    """Place of the rank among those of the pipeline."""

    kind: tuple[Span, ...]
    """What it did."""

    stage: tuple[int, ...]
    """Stage that was computed; -1: none."""

    microbatch: tuple[int, ...]
    """Microbatch that was computed, from 0; -1: none."""

    begin_s: tuple[float, ...]
    """Begin, in seconds since that of the step."""

    lasted_s: tuple[float, ...]
    """How long it took, in seconds."""


@dataclass(frozen=True, kw_only=True)
class PipelineInfo:
    """A pipeline; with replicas the first of them."""

    sentence: str
    """What is to be said first."""

    schedule: str
    """In which order stages compute."""

    microbatches: int
    """Parts of each batch."""

    replicas: int
    """Pipelines side by side."""

    num_steps: int
    """Steps that means are over; 0: none was timed yet."""

    stages: tuple[PipelineStageInfo, ...]
    """All stages in order, at most 64."""

    ranks: tuple[PipelineRankInfo, ...]
    """All ranks in order, at most 64."""

    timeline: TimelineInfo | None
    """Of the step in the middle by its time; None: there is none yet."""

    other_steps: tuple[TimelineInfo, ...] = ()
    """Other steps that can be drawn, in order."""

    predicted: TimelineInfo | None = None
    """What the cut expected of such a step, computations alone; None: it expected nothing."""

    is_scaled: bool = False
    """Whether it expected shares of the time alone; they are of what was computed."""
