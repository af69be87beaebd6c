"""The attempts of a run: one for each start of its instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_KEPT = 'resume="automatic" cannot keep this training. '
"""What the event begins with that says why; a sentence or two follow, and ``GOES_ON``."""

GOES_ON = "Training goes on"
"""What it says next begins with."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One start of a run's instances, which an interruption may have ended."""

    started_s: float
    """When its instances were started, in seconds since the epoch."""

    stepping_s: float | None = None
    """When its trainers asked for their first batch, in seconds since the epoch; told where an
    emulation's clock then goes slower. None: not told."""

    ended_s: float | None = None
    """When the last of them had ended, in seconds since the epoch; None: they run."""

    interrupted_by: str = ""
    """What interrupted it, one sentence; empty: nothing did."""


def with_end(
    attempts: Sequence[Attempt], ended_s: float | None, interrupted_by: str = ""
) -> tuple[Attempt, ...]:
    """Return attempts of which the last one has ended.

    Args:
        attempts: All of its attempts, in order.
        ended_s: When that ended, in seconds since the epoch; one that is known stays.
        interrupted_by: What interrupted it, one sentence; empty: nothing did.
    """
    if not attempts or attempts[-1].ended_s is not None:
        return tuple(attempts)
    last = replace(attempts[-1], ended_s=ended_s, interrupted_by=interrupted_by)
    return (*attempts[:-1], last)


def waited_s(attempts: Sequence[Attempt], now_s: float | None = None) -> float:
    """Return how long a run had no instances between its attempts, in seconds.

    Args:
        attempts: All of its attempts, in order.
        now_s: Until when it waits for the next one, in seconds since the epoch; None: it
            does not.
    """
    starts = [attempt.started_s for attempt in attempts[1:]]
    if now_s is not None and attempts and attempts[-1].ended_s is not None:
        starts.append(now_s)
    return sum(
        max(0.0, start - attempt.ended_s)
        for attempt, start in zip(attempts, starts, strict=False)
        if attempt.ended_s is not None
    )


def billed_in_cluster_time_s(attempts: Sequence[Attempt], *, dilation: float) -> float:
    """Return how long a run had instances, in seconds: of steps those of its cluster.

    Args:
        attempts: All of its attempts, in order, which have ended.
        dilation: Seconds of this machine that one of the cluster took while it made steps.
    """
    billed_s = 0.0
    for attempt in attempts:
        ended_s = attempt.started_s if attempt.ended_s is None else attempt.ended_s
        stepping_s = ended_s if attempt.stepping_s is None else attempt.stepping_s
        billed_s += stepping_s - attempt.started_s + (ended_s - stepping_s) / dilation
    return billed_s


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptRecord:
    """Where a trainer went on after an interruption. Steps that are done again are replaced."""

    attempt: int
    """Number of the attempt; 1 also where a platform starts attempts and does not tell."""

    time_s: float
    """When it knew, in seconds since the epoch."""

    first_step: int
    """Number of the first step of the attempt, from 0; 0: it began anew."""

    steps_again: int = 0
    """Steps that an attempt before had done, and that are done again."""

    again_s: float = 0.0
    """Time from the end of the last step before them to the end of the last of them, in
    seconds."""
