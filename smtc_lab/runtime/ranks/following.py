"""What follows the collectives of one trainer: those of DDP and those of FSDP2."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from smtc_lab.parallel.link.board import shared_board
from smtc_lab.parallel.link.exchange import FollowedExchange
from smtc_lab.parallel.link.fsdp import FollowedShards
from smtc_lab.parallel.link.sums import HeldSums
from smtc_lab.runtime.ranks.paces import declared_group_pace, declared_pace

if TYPE_CHECKING:
    import torch

    from smtc_lab.runtime.instance_runtime import InstanceRuntime


def follow_prepared(runtime: InstanceRuntime, model: torch.nn.Module) -> None:
    """Follow a model that a session has sharded, where a network is declared.

    Others are followed as those of any script, where somebody records it.
    """
    context, layout = runtime.context, runtime.context.distribution
    is_sharded = layout is not None and layout.shard > 1
    if is_sharded and context.link is not None:
        followed_shards(runtime).adopt(model)
    sums = held_sums(runtime)
    if sums is not None:
        from smtc_lab.parallel.tensor.collectives import PartSums  # noqa: PLC0415  others do without

        PartSums.all_reduce = sums


@cache
def held_sums(runtime: InstanceRuntime) -> HeldSums | None:
    """Return what holds sums of layers' parts back; None: nothing does. All ranks ask once."""
    context, layout, timer = runtime.context, runtime.context.distribution, runtime.timer
    has_parts = layout is not None and layout.tensor > 1
    if not has_parts or context.link is None:
        return None

    def held(takes_s: float) -> None:
        timer.got_s += takes_s

    return HeldSums(partial(declared_group_pace, context), shared_board(), held)


@cache
def followed_shards(runtime: InstanceRuntime) -> FollowedShards:
    """Return what follows the sharded models of this process."""
    return FollowedShards(
        followed_exchange(runtime),
        device=lambda: runtime.timer.device_step,
        pace=partial(declared_group_pace, runtime.context),
    )


@cache
def followed_exchange(runtime: InstanceRuntime) -> FollowedExchange:
    """Return what follows all collectives of this process; it keeps none of them."""

    def overrun(declared_s: float, took_s: float) -> None:
        runtime.event(
            "warning",
            f"The emulated network would average a bucket in {1e3 * declared_s:.3g} ms, but "
            f"this machine took {1e3 * took_s:.3g} ms: step times are longer than the model's. "
            "Declare a slower link, fewer trainers or a smaller model.",
        )

    context = runtime.context
    exchange = FollowedExchange(
        declared_pace(context), measures_noise=context.measures_noise, on_overrun=overrun
    )
    exchange.keeps = False
    return exchange
