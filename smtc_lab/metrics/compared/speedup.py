"""How much faster one measured cluster is than another, and whether that is known well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.measured_cluster import measured_clusters
from smtc_lab.metrics.intervals import ratio_interval
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.metrics.result import Interval


def speedup_of(
    first: MeasuredCluster, second: MeasuredCluster, *, candidates: int, looks: int = 1
) -> Interval:
    """Return the step time of the first over that of the second; launches of a round are pairs.

    Args:
        first: The baseline.
        second: What is compared with it.
        candidates: How many are.
        looks: Moments at which it is looked at and may be believed.
    """
    ratio = ratio_interval(
        first.step_times_s,
        second.step_times_s,
        paired=first.rounds == second.rounds,
        candidates=candidates,
        looks=looks,
    )
    launches = (*first.launches, *second.launches)
    return ratio.of(evidence_of(*(launch.run.job for launch in launches)))


def is_known_within(runs: Sequence[RunRecords], within: float, *, looks: int) -> bool:
    """Return whether every speed-up is known so well that no further round is needed.

    Of one cluster alone there is no speed-up to know, so all its rounds are needed.

    Args:
        runs: Of whole rounds, the baseline's first.
        within: How far the ends of an interval may be from its mean, as a fraction of it.
        looks: After how many rounds this is asked at most.

    Raises:
        ValueError: A cluster has no completed run or no measured step.
    """
    baseline, *others = measured_clusters(runs)
    found = [speedup_of(baseline, each, candidates=len(others), looks=looks) for each in others]
    return bool(found) and all(
        each.spread == "launches"
        and each.high <= each.mean * (1 + within)
        and each.low >= each.mean * (1 - within)
        for each in found
    )
