"""Efficiencies out of ratios of step times, with the intervals of these ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.result import Interval


def speedup(ratio: Interval, *, samples_growth: float) -> Interval:
    """Return how many times as many samples per second are trained.

    Args:
        ratio: Step time of the fewer devices over that of the more.
        samples_growth: Samples of a step on the more over those on the fewer: as the devices
            in weak scaling, 1 in strong scaling.
    """
    return ratio.scaled(samples_growth)


def efficiency(speed_up: Interval, *, devices_growth: float) -> Interval:
    """Return the share of the added devices that came out as speed; 1 is ideal.

    Args:
        speed_up: Of samples per second.
        devices_growth: The more devices over the fewer.
    """
    return speed_up.scaled(1 / devices_growth)


def marginal_efficiency(speed_up: Interval, *, devices_growth: float) -> Interval:
    """Return what each added device brings, over what each of those before brings.

    Of 2 devices that became 4 and 1.6 times as fast, each added one brings 0.6 of one of the
    two. Below 0: the added ones made it slower. It rises with the speed-up, whose interval is
    therefore its own.

    Args:
        speed_up: Of samples per second, over the point before.
        devices_growth: The devices over those of the point before, above 1.
    """

    def share(value: float) -> float:
        return (value - 1) / (devices_growth - 1)

    return speed_up.at(share(speed_up.mean), share(speed_up.low), share(speed_up.high))


def cost_efficiency(
    speed_up: Interval, *, usd_per_hour: float | None, baseline_usd_per_hour: float | None
) -> Interval | None:
    """Return samples per dollar over those of the baseline; None: a price is unknown.

    Args:
        speed_up: Of samples per second, over the baseline.
        usd_per_hour: Price of the cluster.
        baseline_usd_per_hour: Price of the baseline's.
    """
    if not usd_per_hour or baseline_usd_per_hour is None:
        return None
    return speed_up.scaled(baseline_usd_per_hour / usd_per_hour)


def knee(devices: Sequence[int], marginal: Sequence[Interval], *, bound: float) -> int | None:
    """Return up to how many devices each added one is told to bring more than a bound.

    Args:
        devices: Of each point, ascending, at least one.
        marginal: Marginal efficiency of each point but the first.
        bound: Share of a device that an added one must bring.

    Returns:
        The last point behind which none fails; None: there is one point, or one launch of a
        point, which tells nothing.
    """
    if not marginal or any(each.spread in {"steps", "none"} for each in marginal):
        return None
    last = devices[0]
    for count, each in zip(devices[1:], marginal, strict=True):
        if each.side_of(bound) <= 0:
            break
        last = count
    return last
