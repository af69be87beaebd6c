"""A scaling study's result in words that claim no more than its intervals do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.cautions import TRAINS_APART
from smtc_lab.metrics.compared.verdict import emulation_clause, level_words
from smtc_lab.metrics.result import NO_CLAIM

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.metrics.scaling.scaling import Cause, Scaling, ScalingCurve, ScalingPoint

_DASH = "\N{EN DASH}"
_TIMES = "\N{MULTIPLICATION SIGN}"

CAUSE_WORDS: dict[Cause, str] = {
    "data_wait": "waiting for data",
    "stragglers": "waiting for the slowest rank",
    "communication": "exposed communication",
    "compute": "slower computing",
    "other": "communication and all else, not told apart",
}
"""Each cause in words; ``other`` where communication is not measured."""

REST = "all else"
"""What ``other`` is where communication is measured."""


def verdict_of(scaling: Scaling) -> str:
    """Return the result in a few sentences: speed, price, what is lost to what, the knee."""
    emulation = emulation_clause(scaling.comparison.emulation)
    apart = [each.text for each in scaling.findings if each.kind == TRAINS_APART]
    told = [
        _of_curve(scaling, curve)
        for curve in scaling.curves
        if not apart or len(curve.points) > 1  # else nothing more is to come
    ]
    return " ".join([*apart, *told, *([f"({emulation})"] if emulation else [])])


def largest_loss(point: ScalingPoint) -> tuple[str, Interval] | None:
    """Return what most of a point's loss goes to in words; None: nothing is told to be lost."""
    if point.loss_s is None or point.loss_s.side_of(0) <= 0:
        return None
    most = max(point.lost, key=lambda part: part.s_per_step.mean)
    if most.s_per_step.side_of(0) <= 0:
        return None
    is_measured = any(part.cause == "communication" for part in point.lost)
    words = REST if most.cause == "other" and is_measured else CAUSE_WORDS[most.cause]
    return words, most.s_per_step


def devices_words(count: int) -> str:
    """Return ``1 device``, ``4 devices``."""
    return f"{count} device" if count == 1 else f"{count} devices"


def _of_curve(scaling: Scaling, curve: ScalingCurve) -> str:
    fewest, most = curve.points[0], curve.points[-1]
    name = f"{curve.name}: " if len(scaling.curves) > 1 else ""
    if most.efficiency is None or most.speedup is None:
        return f"{name}There is no other number of devices to compare with yet."
    if most.efficiency.spread in NO_CLAIM:
        return (
            f"{name}{devices_words(most.devices)} against {fewest.devices}: samples per second "
            f"in the ratio of {most.speedup.mean:.3g}, but one launch tells nothing of how "
            "much launches differ, so no efficiency is claimed."
        )
    speed = (
        f"{name}{devices_words(most.devices)} train {most.speedup.mean:.2f}{_TIMES} the "
        f"samples per second of {fewest.devices} ({level_words(most.speedup)} "
        f"{most.speedup.low:.2f}{_DASH}{most.speedup.high:.2f}), {scaling.mode} efficiency "
        f"{_percents(most.efficiency)}."
    )
    told = (speed, _cost(most, scaling), _loss(most), _knee(scaling, curve))
    return " ".join(filter(None, told))


def _cost(point: ScalingPoint, scaling: Scaling) -> str:
    per_dollar = point.cost_efficiency
    if per_dollar is None:
        return ""
    price = per_dollar.inverse().scaled(100)
    first = scaling.curves[0].points[0].set_up
    side = price.side_of(100)
    if side == 0:
        return f"No difference to {first} is seen in the price of a sample."
    change = price.at(price.mean - 100, price.low - 100, price.high - 100)
    change = change if side > 0 else change.negative()
    word = "more" if side > 0 else "less"
    return (
        f"A sample costs {change.mean:.0f} % {word} than on {first} "
        f"({change.low:.0f}{_DASH}{change.high:.0f} %)."
    )


def _loss(point: ScalingPoint) -> str:
    found = largest_loss(point)
    if found is None or point.loss_s is None:
        return ""
    words, part = found
    return (
        f"Of each step there, {_ms(point.loss_s)} ms are lost, most of it to {words}: "
        f"{_ms(part)} ms ({1e3 * part.low:.1f}{_DASH}{1e3 * part.high:.1f})."
    )


def _knee(scaling: Scaling, curve: ScalingCurve) -> str:
    if curve.knee is None:
        return ""
    bound = f"{100 * scaling.bound:.0f} % of the speed of one device before it"
    devices = [point.devices for point in curve.points]
    if curve.knee == devices[-1]:
        return (
            f"Adding devices pays up to {curve.knee}, the most that were tried: each added one "
            f"brings more than {bound}."
        )
    beyond = curve.points[devices.index(curve.knee) + 1]
    brought = beyond.marginal_efficiency
    if brought is None:
        return ""
    pays = f"Adding devices pays up to {curve.knee}. " if curve.knee != devices[0] else ""
    step = f"from {curve.knee} to {beyond.devices}"
    if brought.side_of(scaling.bound) < 0:
        doubt = "" if pays else "Adding devices does not pay here: "
        from_here = step[0].upper() + step[1:] if pays else step
        return f"{pays}{doubt}{from_here} each added one brings less than {bound}."
    return (
        f"{pays}Whether it pays to go {step} devices, these launches do not tell: each added "
        f"one brings {_percents(brought)}, and more than {bound} is asked. More rounds tell "
        "more."
    )


def _percents(interval: Interval) -> str:
    mean, low, high = (100 * x for x in (interval.mean, interval.low, interval.high))
    return f"{mean:.0f} % ({low:.0f}{_DASH}{high:.0f} %)"


def _ms(interval: Interval) -> str:
    return f"{1e3 * interval.mean:.1f}"
