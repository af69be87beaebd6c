"""Findings in words: titles of figures, their alternative texts, the report's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import NO_PRICE_HERE
from smtc_lab.metrics.records.cluster_time import clock_words
from smtc_lab.metrics.result import NO_CLAIM
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import has_compilers
from smtc_lab.views.text.emulated import declared_devices_s, emulation_words

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison, GroupResult
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.text.set_ups import Compared

ONE_LAUNCH = "no claim from one launch"
"""What is said of a difference that one launch shows."""

APART = "no speed-up claimed, trainers train the same model"
"""What is said of a pair whose trainers do not train one model together."""


def headline(comparison: Comparison) -> str:
    """Return the finding in a few words, with the word ``emulated`` or ``measured``.

    Of several pairs it tells the one whose speed-up is greatest for certain, and no compiler
    that learns other numbers than eager.
    """
    if not comparison.clusters:
        return "No cluster was measured"
    if comparison.pairs:
        wrong = {
            cluster.name
            for cluster in comparison.clusters
            if (compiler := cluster.compiler) and compiler.parity
            if compiler.parity.equal is False
        }
        right = [pair for pair in comparison.pairs if pair.candidate not in wrong]
        right = [pair for pair in right if not pair.trains_apart] or right
        best = max(right or comparison.pairs, key=lambda pair: pair.judged_speedup.low)
        is_priced = tells_cost(comparison)
        finding = pair_finding(best) if is_priced else pair_speed_finding(best)
        name = best.candidate
    else:
        only = comparison.clusters[0]
        name, finding = only.name, f"{fmt.seconds_interval(only.step_time_s)} per step"
    return f"{fmt.plain(name, 40)}: {finding} ({comparison.evidence})"


def tells_cost(comparison: Compared) -> bool:
    """Return whether costs are worth telling.

    Not where nothing has a price and only compilers differ, or all instances are this machine.
    """
    groups = [group for cluster in comparison.clusters for group in cluster.instance_groups]
    if any(cluster.usd_per_hour is not None for cluster in comparison.clusters):
        return True
    is_here = all(group.instance_type == LOCAL for group in groups)
    return not (is_here or has_compilers(comparison))


def pair_finding(pair: PairResult) -> str:
    """Return ``5.8x (5.6-6.0) faster and 74 % (72-75) cheaper per step``, or what was seen."""
    speed = pair_speed_finding(pair)
    if speed in {ONE_LAUNCH, APART}:
        return speed
    if pair.judged_saving is None:
        return f"{speed}, cost unknown"
    return f"{speed} and {cost_finding(pair.judged_saving)} per {pair.unit}"


def pair_speed_finding(pair: PairResult) -> str:
    """Return ``5.8x (5.6-6.0) faster``; ``2.0x (1.9-2.1) the samples a second``."""
    if pair.trains_apart:
        return APART
    told = speed_finding(pair.speedup)
    if pair.unit == "step" or told == ONE_LAUNCH:
        return told
    if pair.judged_speedup.side_of(1) == 0:
        return "no difference in samples a second seen"
    return f"{fmt.times_interval(pair.judged_speedup)} the samples a second"


def speed_finding(speedup: Interval) -> str:
    """Return ``5.8x (5.6-6.0) faster``, or slower, or ``no difference in step time seen``."""
    if speedup.spread in NO_CLAIM:
        return ONE_LAUNCH
    if speedup.side_of(1) == 0:
        return "no difference in step time seen"
    if speedup.mean > 1:
        return f"{fmt.times_interval(speedup)} faster"
    is_known = speedup.low > 0
    return f"{fmt.times_interval(speedup.inverse()) if is_known else fmt.UNKNOWN} slower"


def cost_finding(saving_fraction: Interval) -> str:
    """Return ``74 % (72-75) cheaper``, or dearer, or ``no difference in cost seen``."""
    if saving_fraction.spread in NO_CLAIM:
        return ONE_LAUNCH
    if saving_fraction.side_of(0) == 0:
        return "no difference in cost seen"
    if saving_fraction.mean > 0:
        return f"{fmt.percent_interval(saving_fraction)} cheaper"
    return f"{fmt.percent_interval(saving_fraction.negative())} dearer"


def scale_line(comparison: Comparison) -> str:
    """Return how it was emulated in one line; empty when the hardware was there."""
    if comparison.evidence == "measured":
        return ""
    emulation = comparison.emulation or {}
    return emulation_words(
        clock_words(emulation),
        *declared_devices_s(emulation),
        link=comparison.declared_link or "",
    )


def evidence_line(comparison: Comparison) -> str:
    """Return what the numbers are: measured, or emulated and how."""
    scale = scale_line(comparison)
    return f"Emulated, {scale}" if scale else "Measured on the hardware that is named"


def step_time_finding(comparison: Comparison) -> str:
    """Return the mean step time of each cluster in one sentence."""
    means = [
        f"{fmt.plain(cluster.name)} {fmt.seconds_interval(cluster.step_time_s, unit='s')}"
        for cluster in comparison.clusters
    ]
    return f"Mean step time ({comparison.evidence}): {'; '.join(means) or 'no cluster'}."


def cost_sentence(comparison: Comparison) -> str:
    """Return the cost of 1,000 steps of each cluster in one sentence."""
    costs = [
        f"{fmt.plain(cluster.name)} {fmt.usd_interval(cluster.usd_per_1000_steps)}"
        for cluster in comparison.clusters
    ]
    return f"Cost of 1,000 steps ({comparison.evidence}): {'; '.join(costs) or 'no cluster'}."


def utilization_sentence(comparison: Comparison) -> str:
    """Return how busy device and CPUs of each cluster were in one sentence."""
    clusters = []
    for cluster in comparison.clusters:
        busy = [f"device {fmt.percent(cluster.utilization.device)}"]
        busy.extend(
            f"CPU of {fmt.plain(name)} {fmt.percent(fraction)}"
            for name, fraction in cluster.utilization.cpu.items()
        )
        clusters.append(f"{fmt.plain(cluster.name)}: {', '.join(busy)}")
    return f"Mean utilization ({comparison.evidence}). {'; '.join(clusters) or 'No cluster'}."


def price_words(group: GroupResult) -> str:
    """Return ``ml.p3.2xlarge $3.825/h historical 2022-10-27``, or that the price is unknown."""
    name = fmt.plain(group.instance_type)
    if name == LOCAL:
        return f"{name}: {NO_PRICE_HERE}"
    if group.usd_per_hour is None:
        return f"{name} price {fmt.UNKNOWN}"
    origin = " ".join(fmt.plain(part) for part in (group.price_kind, group.price_date) if part)
    return f"{name} {fmt.usd_per_hour(group.usd_per_hour)} {origin or 'of unknown origin'}"


def price_line(comparison: Comparison) -> str:
    """Return every price that was used, with its kind and date, each once."""
    words = dict.fromkeys(
        price_words(group)
        for cluster in comparison.clusters
        for group in cluster.instance_groups
    )
    return f"prices: {'; '.join(words) or fmt.UNKNOWN}"
