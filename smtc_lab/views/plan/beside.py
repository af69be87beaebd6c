"""A plan beside a comparison of the same clusters: what each says, and whether they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from smtc_lab.planner.intervals import LEVEL
from smtc_lab.text_table import aligned
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.planner.plan import Plan
    from smtc_lab.planner.planned_cluster import PlannedCluster
    from smtc_lab.spec.cluster import Cluster

_ENDS = (50 * (1 - LEVEL), 50 * (1 + LEVEL))
TOLD = 0.01
"""By so much the interval of a plan excludes a value before it tells a side: draws share what a
model misses, so that two clusters with one bottleneck differ by nothing and are sure of it."""
_Side = Literal[-1, 0, 1]
_HEADER = ("", "step, predicted", "measured", "1,000 steps, predicted", "measured")


def beside(plan: Plan, comparison: Comparison, clusters: Sequence[Cluster]) -> str:
    """Return what was predicted of clusters and measured, and whether both say the same.

    Each says that one cluster is faster or cheaper than another where the interval of their
    ratio excludes 1: of 80 % in a plan, of 95 % in a comparison. Clusters whose steps are of
    other numbers of samples are judged per sample, by both.

    Args:
        plan: Of the script that was compared.
        comparison: What was measured.
        clusters: Those of the comparison, the baseline first.

    Raises:
        PlannerError: The plan says nothing of a cluster.
    """
    planned = {each.label: plan.cluster(each) for each in clusters}
    rows = [_HEADER]
    for result in comparison.clusters:
        said = planned[result.name].prediction
        rows.append(
            (
                result.name,
                fmt.seconds_interval(said.step_time_s),
                fmt.seconds_interval(result.step_time_s),
                fmt.usd_interval(said.usd_per_1000_steps),
                fmt.usd_interval(result.usd_per_1000_steps),
            )
        )
    told = [_told(pair, planned) for pair in comparison.pairs]
    return "\n".join([*aligned(rows), *told])


def _told(pair: PairResult, planned: dict[str, PlannedCluster]) -> str:
    """Return whether the plan and the comparison agree on two clusters."""
    times = pair.times_the_samples or 1.0
    by_plan = _sides(planned[pair.baseline], planned[pair.candidate], times)
    saving = pair.judged_saving
    seen = (pair.judged_speedup.side_of(1), 0 if saving is None else saving.side_of(0))
    if by_plan == seen:
        return f"The plan and the comparison agree: {_words(pair, seen)}."
    against = any(one * other < 0 for one, other in zip(by_plan, seen, strict=True))
    verb = "disagree" if against else "do not contradict each other"
    said = f"By the plan {_words(pair, by_plan)}, by the comparison {_words(pair, seen)}."
    return f"The plan and the comparison {verb}. {said}"


def _sides(first: PlannedCluster, second: PlannedCluster, times: float) -> tuple[_Side, _Side]:
    """Return whether a plan is sure that the second cluster is faster, and cheaper.

    A step of the second one has so many times the samples.
    """
    low, high = np.percentile(times * first.step_draws_s() / second.step_draws_s(), _ENDS)
    usd, other_usd = (each.prediction.usd_per_hour for each in (first, second))
    cost = _side(low, high, other_usd / usd) if usd and other_usd else 0
    return _side(low, high, 1.0), cost


def _side(low: float, high: float, value: float) -> _Side:
    return 1 if low > value * (1 + TOLD) else -1 if high < value * (1 - TOLD) else 0


def _words(pair: PairResult, sides: tuple[_Side, _Side]) -> str:
    speed, cost = sides
    words = [
        *(["faster" if speed > 0 else "slower"] if speed else []),
        *(["cheaper" if cost > 0 else "more expensive"] if cost else []),
    ]
    if not words:
        return f"{pair.candidate} and {pair.baseline} are not told apart"
    joint = " but " if speed * cost < 0 else " and "
    unit = " per sample" if pair.unit == "sample" else ""
    return f"{pair.candidate} is {joint.join(words)}{unit} than {pair.baseline}"
