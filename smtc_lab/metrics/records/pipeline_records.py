"""What the ranks of a pipeline record: how the model is cut, and what they computed when."""

from __future__ import annotations

from dataclasses import dataclass, field

FORWARD = "forward"
BACKWARD = "backward"
WEIGHT = "weight"
"""Kinds of a ``MicrobatchRecord``."""

KINDS = (FORWARD, BACKWARD, WEIGHT)
"""All of them, in the order in which a microbatch has them."""

MOST_MICROBATCHES = 50_000
"""Microbatch records that a rank writes, and that are read of it, at most."""

MOST_STAGES = 10_000
"""Stages of a pipeline, and stage records that are read of a rank, at most."""

_MOST_COUNT = 1e15


@dataclass(frozen=True, kw_only=True, slots=True)
class StageRecord:
    """One stage of a model, as it was cut; its rank records it once, before the first step."""

    stage: int
    """Number of the stage, from 0."""

    num_stages: int
    """Stages of the pipeline."""

    place: int
    """Place of its rank among the ranks of the pipeline, from 0."""

    num_ranks: int
    """Ranks of the pipeline."""

    first_rank: int
    """Rank of the job that is the pipeline's first one: it tells replicas apart."""

    schedule: str
    """In which order stages compute, as a ``Distribution`` names it."""

    microbatches: int
    """Parts of each batch that go through the stages."""

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

    largest_bytes: int
    """Bytes of the parameters of the module that has most of them."""

    static_bytes: float
    """Parameters, gradients and optimizer, as the cut expects them."""

    activation_bytes: float
    """What the forward of one microbatch keeps on the device for its backward."""

    in_flight: int
    """Microbatches whose activations it holds at once, at most."""

    sent_bytes: int
    """Bytes that cross to the next stage in the forward of each microbatch; last stage: 0."""

    limit_bytes: float | None = None
    """What it may hold; None: there is no limit."""

    working_bytes: float = 0.0
    """What comes back from host memory at once for a backward."""

    host_bytes: float = 0.0
    """What the forward of one microbatch keeps in host memory for its backward."""

    device_s: float | None = None
    """Declared time of an emulated device for forward and backward of a microbatch, in seconds;
    None: the device is not emulated."""

    send_s: float | None = None
    """What a declared network takes to bring a microbatch to the next stage, or its gradient
    back, in seconds; None: none is declared between them."""

    @property
    def memory_bytes(self) -> float:
        """What it holds at most, as the cut expects it."""
        return self.static_bytes + self.in_flight * self.activation_bytes + self.working_bytes

    @property
    def problem(self) -> str:
        """What it says that cannot be; empty: nothing."""
        if not 0 <= self.stage < self.num_stages <= MOST_STAGES:
            return f"stage {self.stage} of {self.num_stages}"
        if not 0 <= self.place < self.num_ranks <= self.num_stages or self.first_rank < 0:
            return f"rank {self.place} of {self.num_ranks} with {self.num_stages} stages"
        counts = (
            self.microbatches - 1,
            self.num_modules,
            self.parameter_bytes,
            self.largest_bytes,
            self.static_bytes,
            self.activation_bytes,
            self.in_flight,
            self.sent_bytes,
            self.limit_bytes or 0,
            self.working_bytes,
            self.host_bytes,
            self.device_s or 0,
            self.send_s or 0,
        )
        if any(not 0 <= count <= _MOST_COUNT for count in counts):
            return "a number of a stage below 0, or too large"
        if any(not 0 <= one <= 1 for one in (self.flops_fraction, self.largest_fraction)):
            return "a share of a stage outside 0 to 1"
        return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class MicrobatchRecord:
    """What a rank computed of one microbatch in one stage, in a step that was sampled.

    Times are those of a clock that never jumps, set by the host's clock when the model was cut:
    ranks of one host agree to microseconds, hosts as far as their clocks do. An accelerator's
    are its own. An emulated device has computed when its declared time is over.
    """

    step: int
    """Number of the step in its run, from 0."""

    stage: int
    """Number of the stage, from 0."""

    microbatch: int
    """Number of the microbatch in the step, from 0; several batches of a step count on."""

    kind: str
    """``FORWARD``, ``BACKWARD`` or ``WEIGHT``. Where a schedule splits the backward, that of
    the inputs, and that of the weights."""

    begin_time_s: float
    """When it began, in seconds since the epoch."""

    end_time_s: float
    """When it was over, in seconds since the epoch."""

    @property
    def problem(self) -> str:
        """What it says that cannot be; empty: nothing."""
        if self.kind not in KINDS:
            return "a computation of a kind that there is not"
        if min(self.step, self.stage, self.microbatch) < 0:
            return "a computation with a number below 0"
        if not 0 <= self.begin_time_s <= self.end_time_s:
            return "a computation that ends before it begins"
        return ""


@dataclass(frozen=True, kw_only=True)
class PipelineRecords:
    """What all ranks of a job's pipelines recorded."""

    stages: dict[str, list[StageRecord]] = field(default_factory=dict)
    """Stages of each rank, by ``<host>-rank<rank>``, in order; none is empty."""

    microbatches: dict[str, list[MicrobatchRecord]] = field(default_factory=dict)
    """What each of these ranks computed, in order; may be empty."""
