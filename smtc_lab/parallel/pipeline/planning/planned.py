"""A pipeline that was planned: its stages, how a step would go, and a table of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from smtc_lab.parallel.pipeline.cutting.pins import least_pins
from smtc_lab.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from smtc_lab.metrics.pipeline.played import SimulatedStep, StageTime

_MB = 1e6
_HEAD = ("stage", "rank", "from", "to", "of the step", "holds", "receives")


@dataclass(frozen=True, kw_only=True)
class PlannedStage:
    """One stage of a pipeline that was not run."""

    stage: int
    rank: int
    modules: tuple[str, ...]
    """Names of its modules, in the order in which they run."""

    module_s: tuple[float, ...]
    """What each of them takes for one microbatch, forward and backward, in seconds."""

    share: float
    """Of the operations, or of the measured time, of the whole model, 0 to 1."""

    held_bytes: float
    """Parameters, gradients, optimizer, and the activations of the microbatches in flight."""

    host_bytes: float
    """What these microbatches keep in host memory; 0: nothing is moved there."""

    received_bytes: int
    """What comes from the stage before, for each microbatch."""

    time: StageTime
    """For one microbatch; forward and backward apart by their operations."""


class _Again(Protocol):
    """Cuts the same model anew."""

    def __call__(
        self, pins: Mapping[str, int], *, is_limited: bool = True, is_default: bool = True
    ) -> PipelinePlan: ...


@dataclass(frozen=True, kw_only=True)
class PipelinePlan:
    """How a model would be cut and run; nothing of it was."""

    schedule: str
    microbatches: int
    ranks: int
    stages: tuple[PlannedStage, ...]
    step: SimulatedStep
    """A step as it would go; predicted."""

    is_measured: bool
    """Whether modules count with what they took here; else by their operations."""

    device_step_s: float
    """The whole model on one device."""

    sentence: str
    """What bounds this cut."""

    limit_bytes: float | None
    """What a rank may hold; None: there is no limit."""

    _again: _Again

    @property
    def stage_limit_bytes(self) -> float | None:
        """What one stage may hold, where each of a rank has an equal part; None: no limit."""
        if self.limit_bytes is None:
            return None
        return self.limit_bytes * self.ranks / len(self.stages)

    @property
    def is_offloaded(self) -> bool:
        """Whether activations of any stage wait in host memory."""
        return any(one.host_bytes for one in self.stages)

    @property
    def speed_up(self) -> float:
        """Times as fast as one device, which would have to hold the whole model; predicted."""
        return self.device_step_s / self.step.step_s

    @property
    def pins(self) -> dict[str, int]:
        """Stage of each module by name, as ``distribution`` takes it.

        A job with these is cut here, whatever it would choose by itself.
        """
        return {name: one.stage for one in self.stages for name in one.modules}

    @property
    def least_pins(self) -> dict[str, int]:
        """The fewest names that say the same as ``pins``: modules on both sides of each cut."""
        names = [name for one in self.stages for name in one.modules]
        return least_pins(names, [one.stage for one in self.stages for _ in one.modules])

    def pinned(self, pins: Mapping[str, int], *, is_limited: bool = True) -> PipelinePlan:
        """Return the plan with some modules on other stages; the others go where they are best.

        Args:
            pins: Stage of each module and all that is inside it, by name.
            is_limited: Whether a cut that does not fit is refused; else the plan tells what
                each stage would hold.

        Raises:
            EntryPointError: A name is not known, or the stages are not possible so.
        """
        return self._again(pins, is_limited=is_limited)

    def unpinned(self) -> PipelinePlan:
        """Return the best plan, with neither pins nor a default stage.

        Raises:
            EntryPointError: No cut fits.
        """
        return self._again({}, is_default=False)

    def __str__(self) -> str:
        """Return a table of the stages, and what a step would be."""
        return "\n".join(_lines(self))


def _lines(plan: PipelinePlan) -> Iterator[str]:
    """Yield the lines of a table of stages, and what a step would be."""
    yield from aligned([_HEAD, *map(_row, plan.stages)])
    if plan.is_offloaded:
        most = max(one.host_bytes for one in plan.stages)
        yield f"Up to {most / _MB:,.1f} MB of a stage's activations wait in host memory."
    yield (
        f"{plan.schedule} with {plan.microbatches} microbatches, predicted by "
        f"{'what modules took here' if plan.is_measured else 'operations'}: "
        f"{plan.speed_up:.2f} times as fast as one device, bubble {plan.step.bubble:.0%} of "
        "the busy time."
    )
    yield plan.sentence


def _row(stage: PlannedStage) -> tuple[str, ...]:
    return (
        str(stage.stage),
        str(stage.rank),
        stage.modules[0],
        stage.modules[-1],
        f"{stage.share:.0%}",
        f"{stage.held_bytes / _MB:,.1f} MB",
        f"{stage.received_bytes / _MB:,.2f} MB",
    )
