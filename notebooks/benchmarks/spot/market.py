"""Real runs under a market: inside their forecast or not, and whether their times are true."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.spot.job import job_of, started
from smtc_lab.planner.spot.forecast import spot_forecast
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.spot import Market
from tests.kit.runs import processes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.planner.spot.result import SpotForecast

SCALE = 240.0
"""Seconds of the market in one of the machine: an hour passes in 15 s."""

_STEP_S, _EVERY = 0.1, 5
_LOOK_S = 0.1
_PRICES = {"spot_usd_per_hour": 1.0, "on_demand_usd_per_hour": 3.0}
MARKET = Market(mean_time_between_s=3600.0, variation=1.5, mean_wait_s=600.0, time_scale=SCALE)


def market_runs(
    folder: Path, *, runs: int, steps: int, seed: int, dilation: float = 1.0
) -> Iterator[dict[str, Any]]:
    """Yield each run under the market, beside the forecast of its own times.

    Args:
        folder: Where runs are kept.
        runs: How many.
        steps: Of each, of 0.1 s, which an emulated device declares.
        seed: Of the first run's market; those after it have the next ones.
        dilation: Seconds of this machine for one of the emulated cluster.
    """
    told = {"save_every": _EVERY}
    common: dict[str, Any] = {
        "hyperparameters": told,
        "emulation": Emulation(device_step_time_s=_STEP_S, time_dilation=dilation),
        "max_steps": steps,
    }
    if dilation != 1:  # this machine as it is goes at its own speed
        common["cluster"] = "trainers=ml.g4dn.xlarge:1"
    whole = started(folder / "whole", job_of(folder / "whole", **common)).wait()
    before = _forecast(whole)
    for number in range(runs):
        place = folder / f"run{number}"
        spot: dict[str, Any] = {
            "use_spot_instances": True,
            "market": MARKET,
            "seed": seed + number,
        }
        run = started(place, job_of(place, **common, **spot))
        there_s = _time_with_instances(run)
        run.wait()
        own = _forecast(run).with_measured(run)
        state, (told_run,) = run.state, own.measured
        ends = own.policy(told_run.policy).finish_s
        yield {
            "what": "market",
            "number": number,
            "dilation": dilation,
            "interruptions": told_run.interruptions,
            "finish_s": told_run.finish_s,
            "low_s": ends.low,
            "mean_s": ends.mean,
            "high_s": ends.high,
            "is_inside": own.num_held == 1,
            "is_inside_before": before.with_measured(run).num_held == 1,
            "billed_s": state.billed_s,
            "waited_s": state.waited_s,
            "seen_s": there_s,
            "lasted_s": (state.ended_s or 0.0) - (state.started_s or 0.0),
        }


def _forecast(run: Run) -> SpotForecast:
    return spot_forecast(run, lifetimes=MARKET, save_every_s="own", **_PRICES)  # type: ignore[arg-type]  # prices alone


def _time_with_instances(run: Run) -> float:
    """Return for how long there were processes of the run beside its supervisor, in seconds.

    Looked up among all processes of the machine: nothing of this is what the run says itself.
    """
    ended = threading.Event()

    def wait() -> None:
        try:
            run.wait()
        finally:
            ended.set()

    waits = threading.Thread(target=wait)
    waits.start()
    looks: list[tuple[float, bool]] = []
    while not ended.is_set():
        began_s = time.monotonic()
        is_there = bool(set(processes_of(run.folder.path)) - {run.state.supervisor_pid})
        # a look at all processes takes a while itself
        looks.append(((began_s + time.monotonic()) / 2, is_there))
        ended.wait(_LOOK_S)
    waits.join()
    return sum(
        (after_s - before_s) * (was_there + is_there) / 2
        for (before_s, was_there), (after_s, is_there) in pairwise(looks)
    )
