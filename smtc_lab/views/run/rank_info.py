"""What a browser is told of each of several trainers of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RankInfo:
    """The measured steps of one of several trainers, means in seconds."""

    rank: int
    """Its rank."""

    host: str
    """Its instance."""

    step_time_s: float
    """Its own step time."""

    data_wait_s: float
    """Of that, the wait for a batch."""

    exposed_comm_s: float | None
    """Of that, communication with nothing computed beside it; None: not known."""

    rank_wait_s: float | None
    """Of that, the wait for a slower trainer; None: not known."""


@dataclass(frozen=True, kw_only=True)
class RankRowInfo:
    """What one of several trainers did over the steps."""

    rank: int
    """Its rank."""

    host: str
    """Its instance."""

    excess_fraction: float | None
    """How much longer than the median trainer it works itself in a step, warm-up left out;
    None: not known."""

    own_fraction: tuple[float | None, ...]
    """Share of the longest trainer's step, 0 to 1, in which it works itself, waits for data
    included, and waits for no other trainer and no exchange; a mean for each bin. None: not
    known."""


@dataclass(frozen=True, kw_only=True)
class RankMapInfo:
    """What each of several trainers did over all steps, warm-up included, in bins."""

    trainers: int
    """How many there are."""

    steps: int
    """Steps that all of them have recorded."""

    width: int
    """Steps of each bin; the last one may hold fewer."""

    tells_waits: bool
    """Whether waits for other trainers were recorded; False: they count as own work."""

    slow_from: float
    """From this ``excess_fraction`` on a trainer is called slow."""

    rows: tuple[RankRowInfo, ...]
    """The trainers by rank; where there are more than 64, those that work longest."""
