"""How this machine stands in for instances that are not here."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator

from smtc_lab.spec.base import Strict
from smtc_lab.spec.link_text import link_line, link_values

MOST_DILATION = 1000.0
"""Seconds of this machine that one second of an emulated cluster may take, at most."""


class EmulatedLink(Strict):
    """The network that an emulation declares between its trainers.

    Gradients are really averaged, and come when this network would have brought them: after
    the latency and the bytes of a ring over all trainers, one bucket at a time, from the
    moment when the slowest trainer is there. What stages of a pipeline send each other comes
    after latency and bytes from when it was computed; what a trainer sends at once queues. Its
    seconds are those of the cluster, as the declared device's. It is in force for what
    ``DistributedDataParallel`` and FSDP2 exchange, between stages, and for sums of trainers
    that share layers.
    """

    between_gbps: Annotated[float | None, Field(json_schema_extra={"exclusiveMinimum": 0})] = (
        None
    )
    """Bandwidth between instances, each way, in Gbit/s. None: the rated one of the slowest
    instance type that trains, or reduces, as the catalog has it."""

    between_latency_s: Annotated[float, Field(json_schema_extra={"minimum": 0})] = 1e-4
    """Time of an empty message between instances in seconds."""

    inside_gbps: Annotated[float | None, Field(json_schema_extra={"exclusiveMinimum": 0})] = (
        None
    )
    """Bandwidth between devices of one instance, each way, in Gbit/s. None: not declared, as
    the catalog has none; they exchange as fast as this machine does."""

    inside_latency_s: Annotated[float, Field(json_schema_extra={"minimum": 0})] = 1e-5
    """Time of an empty message inside an instance in seconds."""

    @field_validator("between_gbps", "inside_gbps")
    @classmethod
    def _is_a_bandwidth(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and value <= 0:
            raise ValueError(
                f"EmulatedLink.{info.field_name}={value} must be above 0. Raise it, or leave "
                "it out."
            )
        return value

    @field_validator("between_latency_s", "inside_latency_s")
    @classmethod
    def _is_a_latency(cls, value: float, info: ValidationInfo) -> float:
        if value < 0:
            raise ValueError(
                f"EmulatedLink.{info.field_name}={value} must be 0 or above. Raise it."
            )
        return value

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the network of a line such as ``inside=10Gbit/20us,between=1Gbit/100us``.

        Raises:
            SpecError: The line is not legal.
        """
        return cls(**link_values(text))

    def __str__(self) -> str:
        return link_line(**dict(self))


class Emulation(Strict):
    """How the local launcher stands in for instance types that this machine is not.

    Everything of the cluster goes slower by one factor, the time dilation D: a vCPU does 1/D of
    the work that one of its type does in a second, the declared device takes D times as long,
    latencies of the declared network are D times as long and its bandwidths 1/D. So the ratios
    are the cluster's, and what was timed is divided by D where it is told: that is cluster
    time. Such numbers carry the word ``emulated`` everywhere.
    """

    time_dilation: Annotated[float | None, Field(json_schema_extra={"minimum": 1})] = None
    """Seconds of this machine that one second of the cluster takes, at least 1. None: what
    ``cores_per_vcpu`` asks for, else the least at which the vCPUs of the largest cluster of a
    comparison fit into half of this machine. A launcher writes down which it took."""

    cores_per_vcpu: Annotated[
        float | None, Field(json_schema_extra={"exclusiveMinimum": 0})
    ] = None
    """Cores of this machine that stand for one vCPU of relative speed 1: an older way to ask
    for a time dilation, which is the larger, the smaller this is. With ``time_dilation`` given
    it follows from that."""

    device_step_time_s: Annotated[
        float | None, Field(json_schema_extra={"exclusiveMinimum": 0})
    ] = None
    """Seconds that one step takes on the real accelerator; in a pipeline, the step of all
    stages together. None: no emulated device, the step takes what it takes on the emulated
    instance's CPU."""

    time_stretch: Annotated[float, Field(json_schema_extra={"exclusiveMinimum": 0})] = 1.0
    """Read and ignored: an older version wrote it, which slowed devices down less than CPUs."""

    link: EmulatedLink | None = None
    """Declared network between trainers; may be given as its line,
    ``inside=10Gbit/20us,between=1Gbit/100us``. None: instances have the rated bandwidth of the
    catalog where this machine stands for them and it is known; else trainers exchange as fast
    as the machine does. Batches always come over the catalog's."""

    relative_cpu_speed: dict[
        str, Annotated[float, Field(json_schema_extra={"minimum": 0.01, "maximum": 100})]
    ] = Field(default_factory=dict)
    """Speed of one vCPU by instance type or family (``c5``), where the catalog's estimate is
    not wanted. 1.0 is the reference that the catalog names."""

    @property
    def dilation(self) -> float:
        """The time dilation; 1 where none is known, as of a run of an older version."""
        return 1.0 if self.time_dilation is None else self.time_dilation

    @property
    def dilated_device_s(self) -> float | None:
        """Time that the emulated accelerator takes for one step here, in seconds."""
        declared_s = self.device_step_time_s
        return None if declared_s is None else declared_s * self.dilation

    @field_validator("link", mode="before")
    @classmethod
    def _of_line(cls, value: object) -> object:
        return link_values(value) if isinstance(value, str) else value

    @field_validator("cores_per_vcpu", "device_step_time_s", "time_stretch")
    @classmethod
    def _is_positive(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and value <= 0:
            raise ValueError(
                f"Emulation.{info.field_name}={value} must be above 0. Raise it, or leave it "
                "out."
            )
        return value

    @field_validator("time_dilation")
    @classmethod
    def _slows_down(cls, value: float | None) -> float | None:
        if value is not None and value < 1:
            raise ValueError(
                f"Emulation.time_dilation={value} must be 1 or above: nothing goes faster here "
                "than on the cluster. Raise it, or leave it out."
            )
        return value

    @field_validator("relative_cpu_speed")
    @classmethod
    def _speeds_are_sane(cls, speeds: dict[str, float]) -> dict[str, float]:
        wrong = {name: speed for name, speed in speeds.items() if not 0.01 <= speed <= 100}
        if wrong:
            raise ValueError(
                f"relative_cpu_speed={wrong} is outside 0.01 to 100 (1.0 is the reference "
                "CPU). Give the speed of one vCPU relative to it."
            )
        return speeds
