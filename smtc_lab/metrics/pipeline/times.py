"""A pipeline in numbers: its stages, its bubble, who waits for whom, and its timeline."""

from __future__ import annotations

from typing import Literal

from smtc_lab.metrics.result import Evidence, Result

Kind = Literal["forward", "backward", "weight"]
"""What was computed. Where a schedule splits the backward, ``backward`` is that of the inputs,
and ``weight`` that of the weights."""


class StageTimes(Result):
    """One stage of a model: what it is by the cut, and what it took."""

    stage: int
    """Its number, from 0."""

    rank: int
    """Place of its rank among the ranks of the pipeline, from 0."""

    first_module: str
    """Name of its first module."""

    last_module: str
    """Name of its last module."""

    num_modules: int
    """Modules in it, as far as a cut may run between them."""

    flops_fraction: float
    """Share of the model's operations, forward and backward, 0 to 1."""

    largest_module: str
    """Its module with the most operations."""

    largest_fraction: float
    """Share of the model's operations in that module, 0 to 1."""

    parameter_bytes: int
    """Bytes of its parameters."""

    sent_bytes: int
    """Bytes that cross to the next stage in the forward of each microbatch; last stage: 0."""

    largest_bytes: int
    """Bytes of the parameters of its module that has most of them."""

    static_bytes: float
    """Its parameters, gradients and optimizer, as the cut predicts them."""

    activation_bytes: float
    """What the forward of one microbatch keeps on the device for its backward, as the cut
    predicts it."""

    host_bytes: float = 0.0
    """What the microbatches in flight keep in host memory, as the cut predicts it."""

    memory_bytes: float
    """What it holds at most, as the cut predicts it: parameters, gradients, optimizer, and the
    activations of the microbatches in flight."""

    limit_bytes: float | None
    """What it may hold; None: there is no limit."""

    device_s: float | None
    """Declared time of an emulated device for forward and backward of a microbatch, in seconds;
    None: the device is not emulated."""

    forward_s: float | None
    """Mean time of the forward of a microbatch, in seconds; None: no step was timed yet."""

    backward_s: float | None
    """Mean time of the backward of a microbatch, with the weights, in seconds; None: as
    ``forward_s``."""


class RankTimes(Result):
    """One rank of a pipeline: means of a step, in seconds. None: no step was timed yet."""

    rank: int
    """Its place among the ranks of the pipeline, from 0."""

    name: str
    """``<host>-rank<rank>``."""

    stages: tuple[int, ...]
    """Its stages."""

    busy_s: float | None
    """Time in which it computed."""

    idle_s: float | None
    """Time of the step in which it did not: ``busy_s`` and ``idle_s`` add up to the step."""

    wait_s: float | None
    """Share of ``idle_s`` in which what it needed next was not computed yet on another rank, or
    in which it had nothing left to do. The rest is transfer, and work of the host."""

    bubble: float | None
    """``idle_s`` over ``busy_s``."""


class Computation(Result):
    """One computation of one stage."""

    stage: int
    """Number of the stage."""

    microbatch: int
    """Number of the microbatch in the step, from 0; several batches of a step count on."""

    kind: Kind
    """What was computed."""

    begin_s: float
    """When it began, in seconds since the begin of the step."""

    end_s: float
    """When it was over, in seconds since the begin of the step."""


class TimedStep(Result):
    """What all ranks computed in one step."""

    step: int
    """Number of the step in its run, from 0."""

    begin_time_s: float
    """Begin of its first computation, in seconds since the epoch."""

    window_s: float
    """From then to the end of its last computation, in seconds."""

    computations: tuple[Computation, ...]
    """All of them, by begin."""


class ExpectedStep(Result):
    """A step as its schedule would run it, if each stage took what the cut expects: predicted.

    Each computation begins as soon as its rank is free and has what it needs. A declared
    network counts; any other, and the host, take no time.
    """

    step_s: float
    """From its first to its last computation, in seconds."""

    is_scaled: bool
    """Whether stages take their shares of what all of them took together, by their operations;
    else the times that an emulated device declares."""

    computations: tuple[Computation, ...]
    """All of them, by begin."""


class PipelineTimes(Result):
    """A pipeline in numbers. With replicas it is the first of them."""

    schema_version: Literal[1] = 1
    """Version of this schema."""

    evidence: Evidence
    """Whether the times are those of the hardware that is named, or emulated."""

    schedule: str
    """In which order stages compute."""

    microbatches: int
    """Parts of each batch."""

    replicas: int
    """Pipelines side by side."""

    num_steps: int
    """Steps that the means are over: some were timed, and the first of them warmed up."""

    window_s: float | None
    """Mean time from a step's first to its last computation, in seconds; None: no step was
    timed yet, as in what follows."""

    bubble: float | None
    """Idle over busy time of all ranks."""

    ideal_bubble: float | None
    """The same by the schedule's formula for equal stages; None: it has none."""

    imbalance: float | None
    """Time of the slowest stage over that of the mean stage, at least 1."""

    sentence: str
    """What is to be said first."""

    stages: tuple[StageTimes, ...]
    """All stages, in order."""

    ranks: tuple[RankTimes, ...]
    """All ranks, in order."""

    steps: tuple[TimedStep, ...]
    """Timelines: of the first step that counts, of the one in the middle by its time, and of
    the newest, at most 8, in order."""

    median_step: int | None = None
    """Number of the step in the middle by its time; None: no step was timed yet, or its
    timeline is too long."""

    expected: ExpectedStep | None = None
    """What the cut expected of that step; None: it is not known."""

    @property
    def drawn(self) -> TimedStep | None:
        """The timeline to draw where there is room for one; None: there is none.

        It is that of the step in the middle by its time, and in texts from before that was
        told of the newest.
        """
        found = (one for one in reversed(self.steps) if one.step == self.median_step)
        return next(found, self.steps[-1] if self.steps else None)

    def to_json(self) -> str:
        """Return it as JSON text."""
        return self.model_dump_json()
