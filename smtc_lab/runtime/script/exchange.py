"""Follows what the trainers of a job exchange, and exchanges it as the job says."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from smtc_lab.parallel.link.ddp import watch_ddp
from smtc_lab.parallel.link.fsdp import watch_fully_shard
from smtc_lab.runtime.ranks.following import followed_exchange, followed_shards
from smtc_lab.runtime.script.after_import import after_import
from smtc_lab.runtime.script.communication import step_communication

if TYPE_CHECKING:
    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_FSDP = "torch.distributed.fsdp"


def watch_exchange(runtime: InstanceRuntime) -> None:
    """Follow the models that this one of several trainers wraps, where there is a use."""
    context = runtime.context
    if context.link is None and not context.measures_communication:
        return

    exchange = followed_exchange(runtime)
    exchange.keeps = context.measures_communication
    if exchange.keeps:
        runtime.timer.communication = lambda step: step_communication(
            exchange.take(), step, runtime.record
        )
    watch_ddp(exchange, device=lambda: runtime.timer.device_step)
    _watch_fsdp(runtime)


def _watch_fsdp(runtime: InstanceRuntime) -> None:
    """Follow the models that this process shards, as soon as it has imported FSDP2."""
    watch = partial(watch_fully_shard, followed_shards(runtime))
    if _FSDP in sys.modules:
        watch()
    else:
        after_import(_FSDP, watch)
