"""Findings in words: titles of figures, their alternative texts, the report's sentences."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import NO_PRICE_HERE
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import CatalogError
from smtc_lab.metrics.result import NO_CLAIM, evidence_of
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import has_compilers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison, GroupResult
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob

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


def tells_cost(comparison: Comparison) -> bool:
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
    """Return the scale of the emulation in one line; empty when the hardware was there."""
    if comparison.evidence == "measured":
        return ""
    emulation = comparison.emulation or {}
    return scale_words(
        emulation.get("cores_per_vcpu"),
        emulation.get("device_step_time_s"),
        of_types=scales_of_types(comparison.clusters),
        time_stretch=emulation.get("time_stretch"),
        link=comparison.declared_link or "",
    )


def scale_words(
    scale: float | None,
    device_s: float | None,
    *,
    of_types: Mapping[str, float] | None = None,
    time_stretch: float | None = None,
    link: str = "",
) -> str:
    """Return the scale of an emulation in words.

    Args:
        scale: Cores that stand for a vCPU of relative speed 1; None: unknown.
        device_s: Declared time of the device for a step in seconds; None: no such device.
        of_types: Cores that stand for a vCPU, by instance type; None: not known.
        time_stretch: How many times longer than declared the device took; None: not known.
        link: The declared network as its line; empty: none is.
    """
    named = {fmt.plain(name): cores for name, cores in (of_types or {}).items()}
    parts = []
    if len(set(map(fmt.number, named.values()))) > 1:
        (first, cores), *others = named.items()
        parts = [f"1 vCPU of {first} = {fmt.cores(cores)}"]
        parts += [f"of {name} {fmt.number(each)}" for name, each in others]
    elif scale is not None:
        parts = [f"1 vCPU = {fmt.cores(next(iter(named.values()), scale))}"]
    if device_s is not None:
        parts.append(f"declared device time {fmt.seconds(device_s)} per step")
        if time_stretch is not None and round(time_stretch, 2) > 1:
            parts.append(f"{fmt.seconds(device_s * time_stretch)} at the pace of this machine")
    if link:
        parts.append(f"declared network {link}")
    return f"scale model: {', '.join(parts) or 'scale unknown'}"


def scale_of_jobs(jobs: Sequence[TrainingJob]) -> str:
    """Return the scale of jobs that have not run yet; empty: the first is not emulated."""
    emulation = jobs[0].emulation
    if emulation is None or evidence_of(*jobs) == "measured":
        return ""
    scale, speeds = emulation.cores_per_vcpu, emulation.relative_cpu_speed
    groups = [group for job in jobs for group in job.cluster.instance_groups]
    of_types = {}
    for name in dict.fromkeys(group.instance_type for group in groups):
        with contextlib.suppress(CatalogError):  # "local", or a type that only a user knows
            of_types[name] = (scale or 0.0) * relative_cpu_speed(name, speeds).value
    return scale_words(
        scale,
        emulation.device_step_time_s,
        of_types=of_types if scale is not None else None,
        time_stretch=emulation.time_stretch,
        link="" if emulation.link is None else str(emulation.link),
    )


def scales_of_types(clusters: Iterable[ClusterResult]) -> dict[str, float]:
    """Return the cores of this machine that stood for one vCPU, by instance type.

    A type's vCPU has the scale of all times its own speed. A type without a quota, or whose
    vCPUs are not known, is left out.
    """
    return {
        group.instance_type: group.cpu_quota_cores / group.vcpus
        for cluster in clusters
        for group in cluster.instance_groups
        if group.cpu_quota_cores and group.vcpus
    }


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
