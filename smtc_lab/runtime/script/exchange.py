"""Follows what the trainers of a job exchange, and exchanges it as the job says."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from smtc_lab.parallel.link.ddp import watch_ddp
from smtc_lab.parallel.link.exchange import FollowedExchange
from smtc_lab.runtime.ranks.paces import declared_pace
from smtc_lab.runtime.ranks.reducing import Reducers, can_reduce, reduces_on_data
from smtc_lab.runtime.script.communication import step_communication

if TYPE_CHECKING:
    from smtc_lab.runtime.instance_runtime import InstanceRuntime


def watch_exchange(runtime: InstanceRuntime) -> None:
    """Follow the models that this trainer wraps with DDP from now on, where there is a use."""
    context = runtime.context
    if context.world_size == 1 or context.role == "data":
        return
    pace = declared_pace(context)
    reduces = reduces_on_data(context)
    if pace is None and not reduces and not context.measures_communication:
        return

    def overrun(declared_s: float, took_s: float) -> None:
        runtime.event(
            "warning",
            f"The emulated network would average a bucket in {1e3 * declared_s:.3g} ms, but "
            f"this machine took {1e3 * took_s:.3g} ms: step times are longer than the model's. "
            "Declare a slower link, fewer trainers or a smaller model.",
        )

    exchange = FollowedExchange(pace, measures_noise=context.measures_noise, on_overrun=overrun)
    if context.measures_communication:
        runtime.timer.communication = lambda step: step_communication(
            exchange.take(), step, runtime.record
        )
    reducers = Reducers(runtime)
    atexit.register(reducers.close)
    watch_ddp(
        exchange,
        device=lambda: runtime.timer.device_step,
        reduce=lambda model: reducers.join() if reduces and can_reduce(model) else None,
    )
