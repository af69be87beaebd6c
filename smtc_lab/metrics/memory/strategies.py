"""What each device holds under a strategy, from the parts of a step on one device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.metrics.memory.needs import OffloadedMemory, StrategyMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AT_ONCE = 2
"""Layers whose parameters FSDP2 has whole at once: one computes, one is gathered ahead."""


@dataclass(frozen=True, kw_only=True)
class StepParts:
    """A step on one device, in bytes."""

    parameter_bytes: float
    buffer_bytes: float
    input_bytes: float
    gradient_bytes: float
    activation_bytes: float
    """What the forward keeps for the backward."""

    optimizer_bytes: float
    """What the optimizer keeps from step to step."""

    working_bytes: float
    """What a step of the optimizer takes beside that."""

    computed_bytes: Callable[[float], float]
    """Returns the most of gradients and all that is computed at once, by the share of each
    gradient that a device keeps."""

    host_bytes: float = 0.0
    """What it keeps in host memory beside that."""

    returned_bytes: float = 0.0
    """What comes back from there at once: of the layer that keeps most."""

    layer_bytes: tuple[float, ...] = ()
    """Parameters of each layer that is gathered by itself."""


@dataclass(frozen=True, kw_only=True)
class StageParts:
    """One stage of a pipeline, in bytes."""

    parameter_bytes: float
    activation_bytes: float
    """Of one microbatch."""

    host_bytes: float = 0.0
    """What one microbatch keeps in host memory beside that."""

    returned_bytes: float = 0.0
    """What comes back from there at once."""

    in_flight: int
    """Microbatches whose activations it holds at once."""

    pieces: tuple[int, int]
    """The first piece of the model that it runs, and the one after its last."""


def accumulating(parts: StepParts, largest_bytes: float) -> StepParts:
    """Return a step whose gradients stay while those of the next batch come.

    Args:
        parts: The step of one batch.
        largest_bytes: The largest gradient, which is there twice while it is added.
    """

    def computed(share: float) -> float:
        return parts.computed_bytes(0.0) + share * parts.gradient_bytes + largest_bytes

    return replace(parts, computed_bytes=computed)


def on_one_device(parts: StepParts) -> StrategyMemory:
    """Return what one device holds."""
    return _row("one device", 1, parts, share=1.0, peak_bytes=_peak(parts, 1.0, 0.0))


def in_replicas(parts: StepParts, devices: int) -> StrategyMemory:
    """Return what each device of a data parallel job holds.

    DDP has room for all gradients from the first step on.
    """
    computed = parts.computed_bytes(0.0) + parts.gradient_bytes
    always = _always(parts, 1.0) + parts.optimizer_bytes
    peak = always + max(computed, parts.gradient_bytes + parts.working_bytes)
    return _row("data", devices, parts, share=1.0, peak_bytes=peak)


def in_shards(parts: StepParts, devices: int) -> StrategyMemory:
    """Return what each device holds of a model in shards; as FSDP2 does it."""
    own = parts.parameter_bytes - sum(parts.layer_bytes)  # what no layer has stays gathered
    gathered = own + sum(sorted(parts.layer_bytes)[-_AT_ONCE:])
    peak = _peak(parts, 1 / devices, gathered if devices > 1 else 0.0)
    return _row("shard", devices, parts, share=1 / devices, peak_bytes=peak)


def in_tensor_parts(parts: StepParts, devices: int, *, share: float) -> StrategyMemory:
    """Return what each device holds where layers are computed in parts, by the formula.

    Args:
        parts: The step on one device.
        devices: Devices that share the layers.
        share: What a device keeps of all parameters.
    """
    peak = _always(parts, share) + max(
        share * parts.optimizer_bytes + parts.computed_bytes(share),
        share * (parts.optimizer_bytes + parts.gradient_bytes + parts.working_bytes),
    )
    row = _row("tensor", devices, parts, share=share, peak_bytes=peak)
    note = "A formula: as if all layers that are known, and no activations, were divided."
    return row.model_copy(update={"note": note})


def in_stages(
    parts: StepParts, stages: Sequence[StageParts], microbatches: int
) -> StrategyMemory:
    """Return what the fullest device of a pipeline holds, which has one stage.

    Args:
        parts: The step on one device, with the whole batch.
        stages: All stages.
        microbatches: Parts of the batch.
    """
    most_on_host = max(stage.in_flight * stage.host_bytes for stage in stages)
    rows = [
        _stage_row(parts, stage, len(stages), microbatches, most_on_host) for stage in stages
    ]
    return max(rows, key=lambda row: row.peak_bytes)


def _stage_row(
    parts: StepParts,
    stage: StageParts,
    devices: int,
    microbatches: int,
    most_on_host: float,
) -> StrategyMemory:
    share = stage.parameter_bytes / (parts.parameter_bytes or 1.0)
    held = stage.in_flight * stage.activation_bytes
    meanwhile = max(0.0, parts.computed_bytes(0.0) - parts.activation_bytes) / microbatches
    kept = share * (parts.gradient_bytes + parts.optimizer_bytes)
    peak = (
        stage.parameter_bytes
        + parts.buffer_bytes
        + parts.input_bytes
        + kept
        + max(held + meanwhile, share * parts.working_bytes)
    )
    return StrategyMemory(
        strategy="pipeline",
        devices=devices,
        parameter_bytes=stage.parameter_bytes + parts.buffer_bytes,
        gradient_bytes=share * parts.gradient_bytes,
        optimizer_bytes=share * parts.optimizer_bytes,
        activation_bytes=held,
        peak_bytes=peak,
        offloaded=_offloaded(held + stage.returned_bytes, most_on_host, peak),
        note=(
            f"1f1b with {microbatches} microbatches of a batch for all, the fullest of "
            f"{devices} stages."
        ),
    )


def _always(parts: StepParts, share: float) -> float:
    return share * parts.parameter_bytes + parts.buffer_bytes + parts.input_bytes


def _peak(parts: StepParts, share: float, gathered: float) -> float:
    """Return the most at any moment, of a device that keeps a share of each parameter."""
    always = _always(parts, share) + share * parts.optimizer_bytes
    stepping = share * (parts.gradient_bytes + parts.working_bytes)
    return always + max(gathered + parts.computed_bytes(share), stepping)


def _row(
    strategy: str, devices: int, parts: StepParts, *, share: float, peak_bytes: float
) -> StrategyMemory:
    return StrategyMemory.model_validate(
        {
            "strategy": strategy,
            "devices": devices,
            "parameter_bytes": share * parts.parameter_bytes + parts.buffer_bytes,
            "gradient_bytes": share * parts.gradient_bytes,
            "optimizer_bytes": share * parts.optimizer_bytes,
            "activation_bytes": parts.activation_bytes,
            "peak_bytes": peak_bytes,
            "offloaded": _offloaded(
                parts.activation_bytes + parts.returned_bytes, parts.host_bytes, peak_bytes
            ),
        }
    )


def _offloaded(
    activation_bytes: float, host_bytes: float, peak_bytes: float
) -> OffloadedMemory | None:
    if not host_bytes:
        return None
    return OffloadedMemory(
        activation_bytes=activation_bytes, host_bytes=host_bytes, peak_bytes=peak_bytes
    )
