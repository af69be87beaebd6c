"""How a model becomes the stages of one rank, when its first batch comes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.optimizer import states_kept
from smtc_lab.parallel.pipeline.cutting.partition import Partition, best_partition
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record
from smtc_lab.parallel.pipeline.described import stage_records
from smtc_lab.parallel.pipeline.placement import (
    ParameterPlacement,
    keep_own,
    place,
    settle,
    with_own,
)
from smtc_lab.parallel.pipeline.plan import StagePlan, plan_stage
from smtc_lab.parallel.pipeline.schedules import ScheduleKind, torch_schedule, torch_stage
from smtc_lab.parallel.pipeline.sharding import shard_stages
from smtc_lab.parallel.pipeline.stage import Interception, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.metrics.records.pipeline_records import StageRecord
    from smtc_lab.parallel.pipeline.cutting.calls import Recording
    from smtc_lab.parallel.pipeline.options import PipelineOptions
    from smtc_lab.parallel.pipeline.peers import Peers


@dataclass(frozen=True, kw_only=True)
class Built:
    """The stages of one rank, ready to run."""

    partition: Partition
    placement: ParameterPlacement

    groups: list[list[str]]
    """Names of the parameters of each of the optimizer's groups, as of one process."""

    schedule: Any
    """torch's."""

    stages: tuple[Stage, ...]
    """Those of this rank."""

    chunks: dict[int, Any]
    """The same as torch's schedule calls them, by their numbers."""

    records: tuple[StageRecord, ...]
    """What is told of all stages, by number."""

    last_rank: int
    """The rank that computes the loss."""

    subgroups: dict[tuple[int, ...], Any]
    """Process groups of the ranks that share parameters, by these ranks."""


def build(  # noqa: PLR0913  what a pipeline has, by name
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_of: Callable[[Any, Any], torch.Tensor],
    options: PipelineOptions,
    part: dict[str, Any],
    *,
    kind: ScheduleKind,
    num_stages: int,
    group: Any,  # noqa: ANN401  a process group, or None
    peers: Peers,
    device: torch.device,
) -> Built:
    """Cut a model, leave this rank's stages on it, and return them.

    Args:
        model: The whole model; what other ranks run loses its values here.
        optimizer: Its optimizer; it steps this rank's parameters from now on.
        loss_of: Returns the loss of an output and its targets.
        options: How it is cut.
        part: One microbatch.
        kind: The schedule.
        num_stages: Stages of the pipeline.
        group: The ranks of the pipeline.
        peers: The ranks that run the same stages in other pipelines.
        device: Device of this rank.

    Raises:
        EntryPointError: It cannot be cut so, or not be run by this schedule.
    """
    recording = record(
        model, (part["args"], part["kwargs"]), lambda out: loss_of(out, part["targets"]), device
    )
    _check_functions(recording, kind)
    pieces = Pieces(recording)
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partition = _cut(pieces, optimizer, options, kind=kind, num_stages=num_stages, ranks=ranks)
    plans = [plan_stage(pieces, *bounds) for bounds in partition.bounds]
    rank_of = [kind.rank_of(stage, ranks) for stage in range(num_stages)]
    records = stage_records(
        pieces,
        plans,
        options,
        kind=kind,
        rank_of=rank_of,
        first_rank=dist.get_process_group_ranks(group)[0],
        state_factor=_state_factor(optimizer),
    )
    placement = place(recording, plans, rank_of, rank)
    settle(model, placement, device, group, peers)
    groups = keep_own(optimizer, placement)
    placement = with_own(placement)
    own_plans = {stage: plan for stage, plan in enumerate(plans) if rank_of[stage] == rank}
    if peers.shards is not None:
        placement = shard_stages(
            model,
            optimizer,
            recording=recording,
            plans=[*own_plans.values()],
            placement=placement,
            mesh=peers.shards,
        )
    own = _own_stages(model, own_plans, placement, loss_of, options, kind=kind, device=device)
    chunks = _chunks(own, kind, num_stages, device, group)
    return Built(
        partition=partition,
        placement=placement,
        groups=groups,
        schedule=torch_schedule(kind, list(chunks.values()), options.microbatches),
        stages=tuple(own.values()),
        chunks=chunks,
        records=records,
        last_rank=rank_of[-1],
        subgroups=_subgroups(placement, group),
    )


def _own_stages(  # noqa: PLR0913  as build()
    model: torch.nn.Module,
    plans: Mapping[int, StagePlan],
    placement: ParameterPlacement,
    loss_of: Callable[[Any, Any], torch.Tensor],
    options: PipelineOptions,
    *,
    kind: ScheduleKind,
    device: torch.device,
) -> dict[int, Stage]:
    """Return the stages of this rank by number, and let them follow the model's forward."""
    interception, values = Interception(model), placement.parameters
    own = {
        stage: Stage(
            interception,
            plan,
            [values[number] for number in sorted(plan.parameters)],
            loss_of=loss_of,
            microbatches=options.microbatches,
            device=device,
            copies=kind.splits_backward,
        )
        for stage, plan in plans.items()
    }
    interception.follow([stage.plan for stage in own.values()])
    return own


def _chunks(
    own: Mapping[int, Stage],
    kind: ScheduleKind,
    num_stages: int,
    device: torch.device,
    group: Any,  # noqa: ANN401  as build()
) -> dict[int, Any]:
    """Return the stages of this rank as torch's schedule takes them, by number."""
    as_torch = partial(
        torch_stage,
        splits_backward=kind.splits_backward,
        num_stages=num_stages,
        device=device,
        group=group,
    )
    return {index: as_torch(stage, index) for index, stage in own.items()}


def _cut(  # noqa: PLR0913  as build()
    pieces: Pieces,
    optimizer: torch.optim.Optimizer,
    options: PipelineOptions,
    *,
    kind: ScheduleKind,
    num_stages: int,
    ranks: int,
) -> Partition:
    hidden = [pieces.cut(place).hidden for place in range(1, len(pieces))]
    possible = sum(one is None for one in hidden) + 1
    if possible < num_stages and any(hidden):
        first = next(one for one in hidden if one is not None)
        raise EntryPointError(
            f"{first}, so the model can be cut into {possible} stages, and not into "
            f"{num_stages}. Return them as tensors, in a tuple or a dict."
        )
    per_rank = num_stages // ranks
    return best_partition(
        pieces.costs(
            flops_per_byte=options.flops_per_byte,
            state_factor=_state_factor(optimizer),
        ),
        num_stages,
        microbatches=options.microbatches,
        limit_bytes=None if options.limit_bytes is None else options.limit_bytes / per_rank,
        in_flight=kind.in_flight(num_stages, options.microbatches),
        memory_weight=options.memory_weight,
        pins=options.pins,
        default_partition=options.default_partition,
    )


def _state_factor(optimizer: torch.optim.Optimizer) -> float:
    """Return how often a parameter lies in memory, with gradient and what is learnt."""
    return 2.0 + states_kept(optimizer.defaults)


def _check_functions(recording: Recording, kind: ScheduleKind) -> None:
    if kind.splits_backward and recording.has_custom_functions:
        raise EntryPointError(
            f"The model has a torch.autograd.Function, and {kind.torch_name} computes "
            "gradients of weights apart from those of inputs, which such a function cannot. "
            "Take 1f1b or interleaved1f1b."
        )


def _subgroups(placement: ParameterPlacement, group: Any) -> dict[tuple[int, ...], Any]:  # noqa: ANN401  as above
    """Make a process group for each set of ranks that share parameters; in one order."""
    of_all = dist.get_process_group_ranks(group)
    made: dict[tuple[int, ...], Any] = {}
    for ranks in placement.shared:
        if placement.rank not in ranks:
            continue
        if len(ranks) == len(of_all):
            made[ranks] = group
        else:
            made[ranks] = dist.new_group(
                [of_all[rank] for rank in ranks], use_local_synchronization=True
            )
    return made
