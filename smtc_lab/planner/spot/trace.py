"""When spot instances were available: a recorded trace, read from a file of the user.

The format is that of public traces: ``{"metadata": {"gap_seconds": 195}, "data": [1, 1, 0]}``,
with the instances that could be had at each tick.

Source:
    Z. Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI 2024.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from smtc_lab.errors import PlannerError, UnsafeFileError
from smtc_lab.machine.beneath import MIB, read_beneath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FOREVER_S = 1e15
"""An end that never comes; infinity would make numbers that are none."""

_LONGEST_FILE = 64 * MIB
_MOST_TICKS = 4_000_000
_MOST_INSTANCES = 1_000_000
_DAY_S = 86_400.0
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class SpotTrace:
    """Instances that were available, tick by tick."""

    gap_s: float
    """From one tick to the next, in seconds."""

    available: NDArray[np.int64]
    """Instances that could be had at each tick, shape (T,), at least 0."""

    name: str = "a trace"
    """What it is called, as its file is."""

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Return the trace of a file.

        Raises:
            PlannerError: The file cannot be read, is too long, or holds no trace.
        """
        path = Path(path)
        try:
            real = path.resolve(strict=True)  # a link is the user's own
            text = read_beneath(real.parent, real, most_bytes=_LONGEST_FILE)
        except UnsafeFileError as error:
            raise PlannerError(f"The trace {path} is not read: {error}") from error
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PlannerError(
                f"The trace {path} cannot be read ({reason}). Check the path."
            ) from error
        return cls.from_json(text, name=path.name)

    @classmethod
    def from_json(cls, text: str | bytes, *, name: str = "a trace") -> Self:
        """Return the trace that a text holds.

        Args:
            text: ``{"metadata": {"gap_seconds": …}, "data": [instances at each tick]}``.
            name: What it is called.

        Raises:
            PlannerError: It holds no trace.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PlannerError(
                f"The trace {name} is not JSON ({str(error)[:_SHOWN]}). Give a file with "
                '{"metadata": {"gap_seconds": 195}, "data": [1, 1, 0]}.'
            ) from error
        metadata = found.get("metadata") if isinstance(found, dict) else None
        if not isinstance(metadata, dict) or not isinstance(found.get("data"), list):
            raise PlannerError(
                f"The trace {name} has not both 'metadata' and 'data', but {_shown(found)}. "
                'Write {"metadata": {"gap_seconds": 195}, "data": [1, 1, 0]}.'
            )
        gap_s = _gap_s(metadata.get("gap_seconds"), name)
        return cls(gap_s=gap_s, available=_counts(found["data"], name), name=name)

    @property
    def span_s(self) -> float:
        """From its first tick to its end, in seconds."""
        return self.gap_s * len(self.available)

    def has(self, instances: int) -> NDArray[np.bool_]:
        """Return at which ticks so many instances could be had, shape (T,).

        Raises:
            PlannerError: There were never so many.
        """
        is_up: NDArray[np.bool_] = self.available >= instances
        if not is_up.any():
            raise PlannerError(
                f"The trace {self.name} never has instances={instances} at once, but at most "
                f"{self.available.max()}. Take fewer, or another trace."
            )
        return is_up

    def windows(
        self, instances: int, futures: int, random: np.random.Generator
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return when there are instances in futures that begin at random moments.

        Each goes on as the trace does, and at its end with its beginning, at the same time of
        the day, so that long gaps and the rhythm of days stay as they are.

        Args:
            instances: How many are needed at once, at least 1.
            futures: How many.
            random: Where they begin.

        Returns:
            Starts and ends of the first window of each, of the second, and so on without end,
            in seconds from the begin of the future, each of shape (futures,).

        Raises:
            PlannerError: So many were never available.
        """
        return _Windows.of(self, instances).futures(futures, random)

    def lasted(self, instances: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how long so many instances, and fewer of them, could be had, in seconds.

        Each stretch counts by itself, those cut by the ends of the trace as they are.
        """
        starts, ends = _edges(self.available >= instances)
        gaps = starts[1:] - ends[:-1]
        outer = [starts[:1], len(self.available) - ends[-1:]]
        return self.gap_s * (ends - starts), self.gap_s * np.concatenate([gaps, *outer])


@dataclass(frozen=True)
class _Windows:
    """Windows of a trace that goes round: the last ``again`` of them come again and again."""

    starts_s: NDArray[np.float64]
    ends_s: NDArray[np.float64]
    again: int
    period_s: float
    span_s: float

    @classmethod
    def of(cls, trace: SpotTrace, instances: int) -> _Windows:
        is_up = trace.has(instances)
        ticks, day = len(is_up), round(_DAY_S / trace.gap_s)
        first = ticks % day if ticks > day > 0 else 0
        if is_up[first:].all() != is_up.all() or not is_up[first:].any():
            first = 0  # else what comes again would always be, or never
        round_ = is_up[first:]
        starts, ends = _edges(np.concatenate([is_up, round_, round_]))
        kept = starts < ticks + len(round_)
        starts, ends = starts[kept], ends[kept]
        again = int((starts >= ticks).sum())
        ends_s = trace.gap_s * ends
        if not again:
            ends_s[-1] = FOREVER_S
        return cls(
            starts_s=trace.gap_s * starts,
            ends_s=ends_s,
            again=again,
            period_s=trace.gap_s * len(round_),
            span_s=trace.span_s,
        )

    def futures(
        self, futures: int, random: np.random.Generator
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        begin_s = self.span_s * random.random(futures)
        place = np.searchsorted(self.ends_s, begin_s, side="right")
        count = len(self.starts_s)
        before = count - self.again
        while True:
            rounds = np.maximum(0, (place - before) // max(1, self.again))
            at = np.minimum(place - self.again * rounds, count - 1)
            shift_s = self.period_s * rounds * (self.again > 0) - begin_s
            yield np.maximum(self.starts_s[at] + shift_s, 0.0), self.ends_s[at] + shift_s
            place = place + 1


def _edges(is_up: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ticks at which stretches of True begin and end."""
    steps = np.diff(np.concatenate([[False], is_up, [False]]).astype(np.int8))
    return np.flatnonzero(steps == 1).astype(float), np.flatnonzero(steps == -1).astype(float)


def _gap_s(given: object, name: str) -> float:
    if (
        not isinstance(given, int | float)
        or isinstance(given, bool)
        or not (math.isfinite(given) and 0 < given <= _DAY_S)
    ):
        raise PlannerError(
            f"The trace {name} has gap_seconds={_shown(given)}, but needs a number of seconds "
            "above 0 and of at most a day. Correct it."
        )
    return float(given)


def _counts(given: list[Any], name: str) -> NDArray[np.int64]:
    if not 1 <= len(given) <= _MOST_TICKS:
        raise PlannerError(
            f"The trace {name} has {len(given):,} ticks, but may have 1 to {_MOST_TICKS:,}. "
            "Give a part of it."
        )
    for place, count in enumerate(given):
        is_whole = type(count) is int or (type(count) is float and count.is_integer())
        if not is_whole or not 0 <= count <= _MOST_INSTANCES:
            raise PlannerError(
                f"The trace {name} has data[{place}]={_shown(count)}, but a tick has a whole "
                f"number of instances, 0 to {_MOST_INSTANCES:,}. Correct it."
            )
    return np.array(given, dtype=np.int64)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
