"""The spot market that this machine plays: when instances are taken away, and come back."""

from __future__ import annotations

import json
import math
import random
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.instance.variables import DILATION_VARIABLE, MEAN_TIME_BETWEEN_VARIABLE
from smtc_lab.machine.stored_text import parsed_json

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_TRACE_BYTES = 64 * 2**20
_MOST_TICKS = 10_000_000
_BISECTIONS = 60


class MarketClock:
    """Says when the next interruption comes, and when there are instances again.

    Times are in seconds of this machine since the run's begin.

    Args:
        market: Fields of a ``spec.spot.Market``.
        num_instances: Instances of the run, which are taken and given back together.
        seed: Seed of what is drawn.

    Raises:
        LauncherError: Its trace cannot be read.
    """

    def __init__(self, market: Mapping[str, Any], *, num_instances: int, seed: int) -> None:
        self._mean_s: float | None = market["mean_time_between_s"]
        self._mean_wait_s: float = market["mean_wait_s"]
        self._scale: float = market["time_scale"]
        self._random = random.Random(seed)  # noqa: S311  no secret
        self._shape = weibull_shape(market["variation"])
        self._told: list[float] = list(market["interruptions_s"])
        self._there: tuple[float, list[int]] | None = None
        if market["trace"] is not None:
            self._there = read_trace(Path(market["trace"]))
        self._num_instances = num_instances

    @property
    def mean_time_between_s(self) -> float | None:
        """For how long instances are there on average, by rate and trace; None: for ever.

        Moments that are told one by one do not count: nobody knows them before.
        """
        per_s = 0.0 if self._mean_s is None else 1 / self._mean_s
        if self._there is not None:
            gap_s, data = self._there
            enough = [count >= self._num_instances for count in data]
            losses = sum(before and not now for before, now in pairwise(enough))
            per_s += losses / (gap_s * sum(enough)) if losses else 0.0
        return 1 / per_s / self._scale if per_s else None

    @property
    def never_again(self) -> str:
        """What to say where there are no instances any more, for people."""
        last = 0 if self._there is None else self._there[1][-1]
        return (
            f"CapacityError: the market's trace has no moment left with {self._num_instances} "
            f"instances, and behind its end there are {last} for ever. Give a trace that goes "
            "on, or a max_wait, and then go on with run.resume()."
        )

    def next_interruption_s(self, now_s: float) -> float:
        """Return when instances that are there now are taken away; infinite: never."""
        at_s = now_s * self._scale
        moments = self._told[bisect_right(self._told, at_s) :][:1]
        if self._mean_s is not None:
            width_s = self._mean_s / math.gamma(1 + 1 / self._shape)
            moments.append(at_s + self._random.weibullvariate(width_s, self._shape))
        moments.append(self._next_s(at_s, enough=False))
        return min(moments) / self._scale

    def next_capacity_s(self, now_s: float, *, after_loss: bool) -> float:
        """Return when there are instances for a run that has none now; infinite: never.

        Args:
            now_s: The moment.
            after_loss: Whether the market took some, and so gives others after a while.
        """
        at_s = now_s * self._scale
        if after_loss and self._mean_wait_s:
            at_s += self._random.expovariate(1 / self._mean_wait_s)
        return self._next_s(at_s, enough=True) / self._scale

    def _next_s(self, at_s: float, *, enough: bool) -> float:
        """Return when, from a moment on, the trace has enough instances, or too few."""
        if self._there is None:
            return at_s if enough else math.inf
        gap_s, data = self._there
        tick = min(int(at_s / gap_s), len(data) - 1)
        for later in range(tick, len(data)):
            if (data[later] >= self._num_instances) == enough:
                return max(at_s, later * gap_s)
        return math.inf


def of_interruptions(market: MarketClock | None, dilation: float) -> dict[str, str]:
    """Return the variables by which trainers save as often as pays.

    Args:
        market: What takes their instances away; None: it is not known.
        dilation: Time dilation of an emulation, else 1.
    """
    mean_s = None if market is None else market.mean_time_between_s
    return {
        MEAN_TIME_BETWEEN_VARIABLE: "" if mean_s is None else repr(mean_s),
        DILATION_VARIABLE: "" if dilation == 1 else repr(dilation),
    }


def weibull_shape(variation: float) -> float:
    """Return the shape of the Weibull distribution with a coefficient of variation, 0.1 to 10.

    Bisection: ``gamma(1 + 2/k) / gamma(1 + 1/k)**2 - 1`` falls with the shape k.
    """
    low, high = 0.1, 20.0
    for _ in range(_BISECTIONS):
        shape = math.sqrt(low * high)
        ratio = math.lgamma(1 + 2 / shape) - 2 * math.lgamma(1 + 1 / shape)
        low, high = (shape, high) if math.expm1(ratio) > variation**2 else (low, shape)
    return math.sqrt(low * high)


def read_trace(path: Path) -> tuple[float, list[int]]:
    """Return the seconds between two moments of a trace, and the instances at each moment.

    Raises:
        LauncherError: It is none.
    """
    try:
        if path.stat().st_size > _MOST_TRACE_BYTES:
            raise ValueError(f"it is larger than {_MOST_TRACE_BYTES >> 20} MiB")  # noqa: TRY301
        values = parsed_json(path.read_bytes())
        gap_s, data = values["metadata"]["gap_seconds"], values["data"]
        is_time = isinstance(gap_s, int | float) and 0 < gap_s < math.inf
        if not is_time or not isinstance(data, list) or not 0 < len(data) <= _MOST_TICKS:
            raise ValueError("it has no gap_seconds above 0, or no list of data")  # noqa: TRY301
        wrong = [
            one for one in data if type(one) not in {int, float} or not 0 <= one < math.inf
        ]
        if wrong:
            raise ValueError(f"{json.dumps(wrong[0])[:40]} is no number of instances")  # noqa: TRY301
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LauncherError(
            f"The trace {str(path)!r} cannot be read ({error}). Give a file like "
            '{"metadata": {"gap_seconds": 600}, "data": [2, 2, 0]}.'
        ) from error
    return float(gap_s), [int(one) for one in data]
