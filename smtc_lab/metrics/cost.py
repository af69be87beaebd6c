"""What steps and jobs cost: on-demand price times time; unknown where a price is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Evidence, Interval

_SECONDS_PER_HOUR = 3600.0


def usd_per_step(*, step_time_s: Interval, usd_per_hour: float | None) -> Interval | None:
    """Return the cost of one step in USD, or None: price unknown.

    Args:
        step_time_s: Mean step time in seconds; a median hides the steps that stall.
        usd_per_hour: Price of the whole cluster, or None when it is unknown.
    """
    return (
        None if usd_per_hour is None else step_time_s.scaled(usd_per_hour / _SECONDS_PER_HOUR)
    )


def usd_per_1000_steps(*, step_time_s: Interval, usd_per_hour: float | None) -> Interval | None:
    """Return the cost of 1,000 steps in USD, as ``usd_per_step`` does."""
    return usd_per_step(step_time_s=step_time_s.scaled(1000), usd_per_hour=usd_per_hour)


def usd_per_job(*, billed_s: float, usd_per_hour: float | None) -> float | None:
    """Return the cost of one launch in USD, start-up and end included.

    Args:
        billed_s: From the start of the instances to the end of the last one, in seconds.
        usd_per_hour: Price of the whole cluster, or None when it is unknown.

    Returns:
        None when the price is unknown.
    """
    return None if usd_per_hour is None else usd_per_hour * billed_s / _SECONDS_PER_HOUR


def usd_of_run(
    *,
    evidence: Evidence,
    whole_s: float | None,
    steps_s: float | None,
    usd_per_hour: float | None,
) -> float | None:
    """Return the cost of a run in USD; of an emulated one, of its steps alone.

    The rest of an emulated run, such as its start-up, is not in cluster time.

    Args:
        evidence: Whether the run is emulated.
        whole_s: From the start of the instances to their end, or until now, in seconds; None:
            it has not begun.
        steps_s: From the first step to the end of the last one, in seconds; None: no step.
        usd_per_hour: Price of the whole cluster; None: unknown.

    Returns:
        None when the time or the price is unknown.
    """
    billed_s = steps_s if evidence == "emulated" else whole_s
    return (
        None if billed_s is None else usd_per_job(billed_s=billed_s, usd_per_hour=usd_per_hour)
    )


def saving_fraction(*, baseline_usd: float | None, candidate_usd: float | None) -> float | None:
    """Return the share of the baseline's cost that the candidate saves.

    Returns:
        0.25 means a quarter cheaper, -0.25 a quarter more expensive. None when a cost is
        unknown, or the baseline costs nothing.
    """
    if baseline_usd is None or candidate_usd is None or baseline_usd == 0:
        return None
    return 1 - candidate_usd / baseline_usd


def saving_interval(
    *,
    speedup: Interval,
    baseline_usd_per_hour: float | None,
    candidate_usd_per_hour: float | None,
) -> Interval | None:
    """Return the share of the cost per step that the candidate saves, with its interval.

    Args:
        speedup: Step time of the baseline over that of the candidate.
        baseline_usd_per_hour: Price of the baseline's cluster, or None when it is unknown.
        candidate_usd_per_hour: Price of the candidate's cluster, or None when it is unknown.

    Returns:
        None when a price is unknown, or the baseline costs nothing. The interval is that of
        the speed-up: prices have none.
    """
    price_ratio = saving_fraction(
        baseline_usd=baseline_usd_per_hour, candidate_usd=candidate_usd_per_hour
    )
    if price_ratio is None:
        return None
    price_ratio = 1 - price_ratio
    return speedup.at(
        1 - price_ratio / speedup.mean,
        1 - price_ratio / speedup.low,
        1 - price_ratio / speedup.high,
    )
