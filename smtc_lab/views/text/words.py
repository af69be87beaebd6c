"""Findings in words: titles of figures, their alternative texts, the report's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import has_compilers

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison, GroupResult, PairResult
    from smtc_lab.metrics.result import Interval


def headline(comparison: Comparison) -> str:
    """Return the finding in a few words, with the word ``emulated`` or ``measured``.

    Of several pairs it tells the one with the greatest speed-up, and no compiler that learns
    other numbers than eager.
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
        best = max(right or comparison.pairs, key=lambda pair: pair.speedup.mean)
        is_priced = tells_cost(comparison)
        finding = pair_finding(best) if is_priced else speed_finding(best.speedup)
        name = best.candidate
    else:
        only = comparison.clusters[0]
        name, finding = only.name, f"{fmt.seconds(only.step_time_s.mean, unit='s')} per step"
    return f"{fmt.plain(name, 40)}: {finding} ({comparison.evidence})"


def tells_cost(comparison: Comparison) -> bool:
    """Return whether costs are worth telling: not where only compilers differ, unpriced."""
    return not has_compilers(comparison) or any(
        cluster.usd_per_hour is not None for cluster in comparison.clusters
    )


def pair_finding(pair: PairResult) -> str:
    """Return ``5.8x faster and 74 % cheaper per step``, or what was seen instead."""
    speed = speed_finding(pair.speedup)
    if pair.saving_fraction is None:
        return f"{speed}, cost unknown"
    cost = cost_finding(pair.saving_fraction)
    return f"{speed} and {cost} per step"


def speed_finding(speedup: Interval) -> str:
    """Return ``5.8x faster``, ``1.2x slower`` or ``no difference in step time seen``."""
    if speedup.low <= 1 <= speedup.high:
        return "no difference in step time seen"
    if speedup.mean > 1:
        return f"{fmt.times(speedup.mean)} faster"
    return f"{fmt.times(1 / speedup.mean) if speedup.mean > 0 else fmt.UNKNOWN} slower"


def cost_finding(saving_fraction: Interval) -> str:
    """Return ``74 % cheaper``, ``12 % dearer`` or ``no difference in cost seen``."""
    if saving_fraction.low <= 0 <= saving_fraction.high:
        return "no difference in cost seen"
    if saving_fraction.mean > 0:
        return f"{fmt.percent(saving_fraction.mean)} cheaper"
    return f"{fmt.percent(-saving_fraction.mean)} dearer"


def scale_line(comparison: Comparison) -> str:
    """Return the scale of the emulation in one line; empty when the hardware was there."""
    if comparison.evidence == "measured":
        return ""
    emulation = comparison.emulation or {}
    return scale_words(emulation.get("cores_per_vcpu"), emulation.get("device_step_time_s"))


def scale_words(scale: float | None, device_s: float | None) -> str:
    """Return the scale of an emulation: cores that stand for a vCPU, and the declared time."""
    parts = []
    if scale is not None:
        parts.append(f"1 vCPU = {fmt.number(scale)} cores")
    if device_s is not None:
        parts.append(f"declared device time {fmt.seconds(device_s)} per step")
    return f"scale model: {', '.join(parts) or 'scale unknown'}"


def evidence_line(comparison: Comparison) -> str:
    """Return what the numbers are: measured, or emulated with the scale of the model."""
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
