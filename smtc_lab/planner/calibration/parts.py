"""The parts of a calibration: what one launch, or a few, showed."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from smtc_lab.metrics.result import Result
from smtc_lab.planner.intervals import Measured

MOST_QUANTILES = 41
"""Quantiles by which the spread of steps is kept: one for each 2.5 %."""

_MOST_PARAMETERS = 10_000


class CalibrationPart(Result):
    """A frozen part of a calibration; a field that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class WorkerPoint(CalibrationPart):
    """How fast one side of the data path prepared batches, with nothing to wait for."""

    num_data_workers: int = Field(ge=1)
    """Processes that prepared data."""

    cores: float = Field(gt=0)
    """Cores that they could use: their quota, or those that they were held to."""

    samples_per_s: Measured
    """Samples that they prepared in a second."""

    cpu_s_per_sample: Measured
    """CPU-seconds of all processes of that side for one sample, all its threads busy."""

    launches: int = Field(default=1, ge=1)
    """Launches that it is the mean of."""

    path: Literal["in_process", "service"]
    """``in_process``: data workers of the trainer. ``service``: data workers of a data
    instance, reached through a socket."""


class DevicePoint(CalibrationPart):
    """How long a step takes when its batch is already there."""

    batch_size: int = Field(ge=1)
    """Samples of one step of one trainer."""

    step_s: Measured
    """Seconds per step of one trainer."""

    cpu_s_per_step: Measured | None = None
    """CPU-seconds per step of the trainer's process, which its own data workers cannot have;
    None: not measured."""

    step_quantiles: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        default=(), max_length=MOST_QUANTILES
    )
    """Quantiles of a step's seconds, evenly from the shortest to the longest step; empty: not
    measured."""


class GradientOrder(CalibrationPart):
    """When in a step which gradients are ready, as a launch with resident data showed it."""

    nbytes: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        min_length=1, max_length=_MOST_PARAMETERS
    )
    """Bytes of each parameter's gradient, in the order in which they became ready."""

    ready_fraction: tuple[Annotated[float, Field(ge=0, le=1)], ...]
    """When each was ready, as a part of the step, rising."""

    begin_fraction: float = Field(ge=0, le=1)
    """When the backward pass began, as a part of the step."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        times = (self.begin_fraction, *self.ready_fraction)
        if len(self.nbytes) != len(self.ready_fraction) or list(times) != sorted(times):
            raise ValueError(
                f"ready_fraction has {len(self.ready_fraction)} times of {len(self.nbytes)} "
                "gradients, or they do not rise. Calibrate again."
            )
        return self


class LinkPoint(CalibrationPart):
    """How long two processes of this machine took to add up gradients, over loopback."""

    nbytes: int = Field(ge=1)
    """Bytes of each process."""

    all_reduce_s: Measured
    """Seconds of one all-reduce."""


class RunPoint(CalibrationPart):
    """One whole real run."""

    batch_size: int = Field(ge=1)
    """Samples of one step of one trainer."""

    num_data_workers: int = Field(ge=0)
    """Processes that prepared data, wherever they were; 0: the trainer did it itself, before
    each step."""

    trainer_cores: float = Field(gt=0)
    """Cores of the trainer and its own data workers."""

    data_cores: float = Field(ge=0)
    """Cores of all data instances; 0: there was none."""

    step_time_s: Measured
    """Seconds per step, from asking for the batch to the end of the optimizer step."""


class CpuSpeedFact(CalibrationPart):
    """How fast one vCPU of the calibrated machine is."""

    value: float = Field(gt=0)
    """1.0 is a vCPU of ml.p3.2xlarge, with all vCPUs of the machine busy."""

    kind: Literal["measured", "estimated", "user"]
    """``measured``: with the same program on both. ``estimated``: from a table of CPU
    generations. ``user``: given by the user."""

    of: str
    """The CPU, and where the figure comes from."""


class LaunchSpread(CalibrationPart):
    """How far launches of one and the same set-up lie apart, where CPUs bound them."""

    cpu_sd: float = Field(ge=0)
    """Standard deviation of the logarithm of the time that a launch takes for the same work."""

    freedom: float = Field(gt=0)
    """Degrees of freedom of that estimate, of which Student's t makes the interval of the next
    launch."""

    repeats: int = Field(ge=0)
    """Launches that repeated another one; 0: the estimate is an assumption."""


ASSUMED_SPREAD = LaunchSpread(cpu_sd=0.05, freedom=2.0, repeats=0)
"""What predictions from older calibrations have, which repeated no launch. Assumed: a shared
machine with two cores had 11 %, steadier ones have less than half of it."""
