"""How often a CPU quota held its tree back."""

from __future__ import annotations

from dataclasses import dataclass

_PERIOD_S = 0.1  # the longest enforcement period of a quota that is not tiny


@dataclass(frozen=True)
class Throttling:
    """What a quota did since it was set. Both grow."""

    at_limit_s: float = 0.0
    """Time in enforcement periods in which the tree used all it was allowed, in seconds."""

    held_s: float = 0.0
    """Time in which the tree's ready threads were held back, in seconds, summed over CPUs."""


def asked_cpu_s(
    *, used_s: float, waited_s: float, limit_s: float, interval_s: float, throttling: Throttling
) -> float:
    """Return the CPU time that a tree could have used in an interval, at most its limit.

    A tree that was at its limit most of the time wanted all of it. Otherwise it was busy for as
    long as its threads ran or stood in line for a CPU that others had, and an instance with so
    many cores would have given it so much CPU in that time. Standing still because of the quota
    itself is not standing in line, and a burst that took no longer than the quota alone would
    have made it take was not starved.

    Args:
        used_s: CPU time used in the interval.
        waited_s: Time that its threads were ready and did not run.
        limit_s: CPU time that the quota allowed.
        interval_s: Length of the interval.
        throttling: What the quota did in the interval.
    """
    if throttling.at_limit_s > interval_s / 2:
        return max(used_s, limit_s)
    busy_s = used_s + max(0.0, waited_s - throttling.held_s)
    cores = limit_s / interval_s if interval_s > 0 else 0.0
    return max(used_s, min(limit_s, busy_s * min(1.0, cores)))


class AskedCpu:
    """CPU time that a tree could have used under one quota, interval after interval.

    A quota is given out in periods, so a tree that takes all of it uses more than the limit of
    one interval and less than that of the next. For intervals at the limit, used and limits are
    therefore summed first: only what they differ by more than one period's quota was wanted.
    """

    def __init__(self) -> None:
        self._left_s = 0.0

    def look(
        self,
        *,
        used_s: float,
        waited_s: float,
        limit_s: float,
        interval_s: float,
        throttling: Throttling,
    ) -> float:
        """Return what was asked for in the next interval, at least what was used.

        Args:
            used_s: CPU time used in the interval.
            waited_s: Time that its threads were ready and did not run.
            limit_s: CPU time that the quota allowed.
            interval_s: Length of the interval.
            throttling: What the quota did in the interval.
        """
        if throttling.at_limit_s <= interval_s / 2:
            return asked_cpu_s(
                used_s=used_s,
                waited_s=waited_s,
                limit_s=limit_s,
                interval_s=interval_s,
                throttling=throttling,
            )
        one_period_s = limit_s / interval_s * _PERIOD_S
        left_s = max(self._left_s + limit_s - used_s, -one_period_s)
        wanted_s = max(0.0, min(left_s - one_period_s, limit_s - used_s))
        self._left_s = left_s - wanted_s
        return used_s + wanted_s
