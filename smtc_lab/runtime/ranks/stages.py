"""Records how a pipeline is cut and what its stages compute; emulates devices and network."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from smtc_lab.parallel.link.averages import FollowedAverages
from smtc_lab.parallel.link.board import shared_board
from smtc_lab.parallel.link.transfers import HeldTransfers, board_slots
from smtc_lab.parallel.pipeline.clock import StageClock
from smtc_lab.runtime.ranks.following import followed_shards, held_sums
from smtc_lab.runtime.ranks.paces import declared_sends

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.pace import Pace
    from smtc_lab.parallel.pipeline.building import Built
    from smtc_lab.parallel.pipeline.pipeline import ModelPipeline
    from smtc_lab.runtime.instance_runtime import InstanceRuntime


def watch_stages(runtime: InstanceRuntime, pipeline: ModelPipeline) -> None:
    """Follow a pipeline from when it is cut on."""
    pipeline.on_built = partial(_built, runtime, pipeline)


def _built(runtime: InstanceRuntime, pipeline: ModelPipeline, built: Built) -> None:
    """Record the stages of this rank, and time them from now on.

    An emulated device takes its declared time for the whole model, so a stage takes its share.
    """
    timer, whole_s = runtime.timer, runtime.context.device_step_time_s
    records = [built.records[stage] for stage in built.chunks]
    device_s = {}
    if whole_s is not None:
        device_s = {
            one.stage: whole_s * one.flops_fraction / one.microbatches for one in records
        }
        timer.device_step_time_s = whole_s * sum(one.flops_fraction for one in records)
    sends = declared_sends(runtime.context, pipeline.ranks)
    for record in records:
        send_s = _send_s(built, record.stage, lambda place: sends(pipeline.ranks[place]))
        own_s = device_s.get(record.stage)
        runtime.record(replace(record, device_s=own_s, send_s=send_s))

    def overrun(declared_s: float, took_s: float) -> None:
        runtime.event(
            "warning",
            f"The emulated device would compute a microbatch of a stage in "
            f"{1e3 * declared_s:.3g} ms, but this machine took {1e3 * took_s:.3g} ms: step "
            "times are longer than the model's. Declare a longer device_step_time_s, or take a "
            "smaller model.",
        )

    sums = held_sums(runtime)
    clock = StageClock(
        built=built,
        microbatches=pipeline.options.microbatches,
        device=pipeline.device,
        step=lambda: timer.first_step + timer.num_steps,
        record=runtime.record,
        device_s=device_s,
        on_overrun=overrun,
        summed_s=lambda: 0.0 if sums is None else sums.total_s,
    )
    clock.start()
    _follow_averages(runtime, pipeline, clock)
    _hold_transfers(runtime, pipeline, built, sends)


def _send_s(built: Built, stage: int, pace: Callable[[int], Pace | None]) -> float | None:
    """Return what a declared network takes for a microbatch from a stage to the next one.

    Args:
        built: The pipeline.
        stage: Number of the stage, of this rank.
        pace: Returns the network between this rank and that of a place in the pipeline.
    """
    own, following = built.records[stage], built.records[stage + 1 : stage + 2]
    if not following or following[0].place == own.place:
        return None
    declared = pace(following[0].place)
    return None if declared is None else declared.send_s(own.sent_bytes)


def _follow_averages(
    runtime: InstanceRuntime, pipeline: ModelPipeline, clock: StageClock
) -> None:
    """Record what replicas average, and hold it back, where there is a use. All ranks do."""
    shards = followed_shards(runtime)
    is_of_use = runtime.context.link is not None or shards.exchange.keeps
    if is_of_use and pipeline.device.type == "cpu":
        pipeline.all_reduce = FollowedAverages(shards, lambda: clock.backward_s)


def _hold_transfers(
    runtime: InstanceRuntime,
    pipeline: ModelPipeline,
    built: Built,
    sends: Callable[[int], Pace | None],
) -> None:
    """Hold back what stages send each other, where a network is declared. All ranks do."""
    if runtime.context.link is None:
        return
    num_stages, microbatches = len(built.records), pipeline.options.microbatches
    HeldTransfers(
        built.chunks,
        num_stages=num_stages,
        microbatches=microbatches,
        pace=sends,
        board=shared_board(board_slots(num_stages, microbatches)),
    ).start(built.schedule)
