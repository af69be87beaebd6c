"""A cut told before anything runs: stages, what they hold, and how a step would go."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.pipeline.played import StageTime, simulate
from smtc_lab.parallel.arguments import loss_of_output
from smtc_lab.parallel.pipeline.checks import check_modules, split_batch
from smtc_lab.parallel.pipeline.cutting.measuring import measured_s
from smtc_lab.parallel.pipeline.cutting.partition import Partition, best_partition
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces, flops, host_bytes
from smtc_lab.parallel.pipeline.cutting.recording import record
from smtc_lab.parallel.pipeline.cutting.stand_ins import with_values
from smtc_lab.parallel.pipeline.planning.order import compute_order
from smtc_lab.parallel.pipeline.planning.planned import PipelinePlan, PlannedStage
from smtc_lab.parallel.pipeline.schedules import ScheduleKind, check_torch, schedule_kind
from smtc_lab.parallel.units import shard_units
from smtc_lab.spec.distribution import MICROBATCHES_EACH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.parallel.pipeline.cutting.ranges import PieceCost

_BITS = 8


def plan_pipeline(  # noqa: PLR0913  options by name
    model: torch.nn.Module,
    inputs: Any,  # noqa: ANN401  any batch
    targets: Any = None,  # noqa: ANN401  as above
    loss_fn: Callable[[Any, Any], torch.Tensor] | None = None,
    *,
    pipeline: int,
    microbatches: int | None = None,
    schedule: str = "1f1b",
    stages_per_rank: int | None = None,
    pins: Mapping[str, int] | None = None,
    default_partition: int | None = None,
    memory_weight: float = 0.0,
    limit_bytes: float | None = None,
    state_factor: float = 4.0,
    device_step_s: float = 1.0,
    link_gbps: float = math.inf,
    link_latency_s: float = 0.0,
    measure: bool = False,
    activation_offload: bool = False,
) -> PipelinePlan:
    """Return how a model would be cut into a pipeline, without running it.

    One forward and backward is imagined, without memory for values: model and batch may be on
    the meta device.

    Args:
        model: The whole model.
        inputs: As for ``session.step``: an argument, a tuple of them, or a dict by name.
        targets: As for ``session.step``.
        loss_fn: As for ``session.step``.
        pipeline: Ranks, at least 2.
        microbatches: Equal parts of the batch; None: two for each rank.
        schedule: As in ``distribution``.
        stages_per_rank: Stages on each rank; None: what the schedule needs.
        pins: Stage of each module and all inside it, by name.
        default_partition: Stage of what is not pinned; None: where it is best.
        memory_weight: 0 balances time, 1 memory.
        limit_bytes: What a rank may hold; None: there is no limit.
        state_factor: Bytes held for each byte of a parameter: 4 with AdamW (gradient, two
            moments), 3 with momentum, 2 with neither.
        device_step_s: What one device takes for forward and backward of the whole batch, in
            seconds. 1: all times are shares of that.
        link_gbps: Bandwidth between two ranks in Gbit/s. What a rank sends at once queues.
        link_latency_s: Time of an empty message between two ranks, in seconds.
        measure: Whether modules count with what they take here, for a few microbatches, in
            place of ``device_step_s``; model and batch have values then.
        activation_offload: Whether layers' activations wait in host memory, as in
            ``distribution``; copying them takes no time here.

    Raises:
        EntryPointError: This torch is too old, the batch does not divide, the schedule cannot
            run so many microbatches, or the model cannot be cut so.
    """
    _check_numbers(pipeline, device_step_s, link_gbps, link_latency_s)
    microbatches = MICROBATCHES_EACH * pipeline if microbatches is None else microbatches
    kind, stages = _kind_and_stages(schedule, pipeline, stages_per_rank, microbatches)
    order = compute_order(kind, pipeline, stages, microbatches)
    check_modules(model)
    part = split_batch(inputs, targets, microbatches)[0]
    loss_of = loss_of_output if loss_fn is None else loss_fn
    inputs_of = (part["args"], part["kwargs"])

    def loss(out: Any) -> torch.Tensor:  # noqa: ANN401  any output
        return loss_of(out, with_values(part["targets"]))

    pieces = Pieces(record(model, inputs_of, loss, torch.device("cpu")))
    pieces.offload(shard_units(model) if activation_offload else ())
    if measure:
        seconds = measured_s(model, pieces, inputs_of, loss)
        device_step_s = microbatches * sum(seconds)
    else:
        seconds = _shared_s(pieces, device_step_s / microbatches)
    costs = _costs(pieces, seconds, link_gbps, state_factor)

    def cut(
        pins: Mapping[str, int], *, is_limited: bool = True, is_default: bool = True
    ) -> PipelinePlan:
        partition = best_partition(
            costs,
            stages,
            microbatches=microbatches,
            limit_bytes=_part(limit_bytes if is_limited else None, pipeline / stages),
            in_flight=kind.in_flight(stages, microbatches),
            memory_weight=memory_weight,
            pins=pins,
            default_partition=default_partition if is_default else None,
        )
        link = link_latency_s, link_gbps
        planned = _stages(pieces, partition, kind, pipeline, seconds=seconds, link=link)
        return PipelinePlan(
            schedule=schedule,
            microbatches=microbatches,
            ranks=pipeline,
            stages=planned,
            step=simulate(order, [one.time for one in planned]),
            is_measured=measure,
            device_step_s=device_step_s,
            sentence=partition.sentence,
            limit_bytes=limit_bytes,
            _again=cut,
        )

    return cut(dict(pins or {}))


def _check_numbers(
    pipeline: int, device_step_s: float, link_gbps: float, latency_s: float
) -> None:
    check_torch()
    if not 0 <= latency_s < math.inf:
        raise EntryPointError(
            f"plan_pipeline got link_latency_s={latency_s:g}. Give seconds, 0 or above."
        )
    if pipeline < 2 or device_step_s <= 0 or link_gbps <= 0:
        raise EntryPointError(
            f"plan_pipeline got pipeline={pipeline}, device_step_s={device_step_s:g} and "
            f"link_gbps={link_gbps:g}. Give at least 2 ranks, and numbers above 0."
        )


def _kind_and_stages(
    schedule: str, ranks: int, stages_per_rank: int | None, microbatches: int
) -> tuple[ScheduleKind, int]:
    kind = schedule_kind(schedule)
    stages = ranks * kind.stages_per_rank(stages_per_rank)
    kind.check(ranks, stages, microbatches)
    return kind, stages


def _shared_s(pieces: Pieces, whole_s: float) -> list[float]:
    """Return the share of each piece, by its operations, of what all of them take."""
    operations = [float(flops(call)) for call in pieces.sequence]
    each_s = whole_s / (sum(operations) or 1.0)
    return [each_s * one for one in operations]


def _part(limit_bytes: float | None, share: float) -> float | None:
    return None if limit_bytes is None else limit_bytes * share


def _costs(
    pieces: Pieces, seconds: Sequence[float], gbps: float, state_factor: float
) -> list[PieceCost]:
    return pieces.costs(
        seconds=seconds,
        flops_per_byte=_BITS / (gbps * 1e9) * _flops_per_s(pieces, seconds),
        state_factor=state_factor,
    )


def _flops_per_s(pieces: Pieces, seconds: Sequence[float]) -> float:
    return sum(map(flops, pieces.sequence)) / (sum(seconds) or 1.0)


def _stages(  # noqa: PLR0913  what a stage is known by
    pieces: Pieces,
    partition: Partition,
    kind: ScheduleKind,
    ranks: int,
    *,
    seconds: Sequence[float],
    link: tuple[float, float],
) -> tuple[PlannedStage, ...]:
    latency_s, gbps = link
    total_s = sum(seconds) or 1.0
    made = []
    for stage, (first, end) in enumerate(partition.bounds):
        own = pieces.sequence[first:end]
        forward = sum(one.forward_flops for call in own for one in call.walk())
        own_s, operations = sum(seconds[first:end]), sum(map(flops, own)) or 1
        forward_s = own_s * forward / operations
        received = pieces.cut(first).num_bytes if first else 0
        sent_s = 0.0
        if end < len(pieces):
            sent_s = latency_s + pieces.cut(end).num_bytes * _BITS / (gbps * 1e9)
        made.append(
            PlannedStage(
                stage=stage,
                rank=kind.rank_of(stage, ranks),
                modules=tuple(call.name for call in own),
                module_s=tuple(seconds[first:end]),
                share=own_s / total_s,
                held_bytes=partition.memory_bytes[stage],
                host_bytes=float(partition.in_flight[stage] * sum(map(host_bytes, own))),
                received_bytes=received,
                time=StageTime(
                    forward_s=forward_s,
                    backward_s=(own_s - forward_s) / 2,
                    weight_s=(own_s - forward_s) / 2,
                    send_s=sent_s,
                ),
            )
        )
    return tuple(made)
