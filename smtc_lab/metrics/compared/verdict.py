"""The result of a comparison in words that claim no more than the intervals do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import NO_PRICE_HERE
from smtc_lab.metrics.records.cluster_time import clock_words
from smtc_lab.metrics.result import NO_CLAIM, Interval, is_wide
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.compared.break_even import BreakEven
    from smtc_lab.metrics.compared.pair_result import PairResult, Unit
    from smtc_lab.metrics.finding import Finding

_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_MORE = "(more rounds tell more)"
_TIMES = "\N{MULTIPLICATION SIGN}"

_OF_SPEED: dict[Unit, str] = {"step": "step time", "sample": "samples a second"}
_RATIOS: dict[Unit, str] = {"step": "step times", "sample": "samples a second"}


def pair_clause(pair: PairResult, *, unpriced: Sequence[str] = ()) -> str:
    """Return what is seen of two clusters, without a full stop.

    Args:
        pair: The two.
        unpriced: Instance types of both clusters that have no price.
    """
    if pair.trains_apart:
        return f"{pair.candidate} against {pair.baseline}: no speed-up is claimed"
    return _claimed(pair, unpriced)


def _claimed(pair: PairResult, unpriced: Sequence[str]) -> str:
    baseline, candidate, unit = pair.baseline, pair.candidate, pair.unit
    speedup = pair.judged_speedup
    if speedup.spread in NO_CLAIM:
        return _one_launch(baseline, candidate, speedup, unit)
    speed, is_faster = _speed(speedup, unit)
    cost, is_cheaper = _cost(pair.judged_saving, unpriced, baseline, unit)
    if unit == "sample" and is_faster is not None:
        clause = f"{candidate} trains {speed} of {baseline}"
        if is_cheaper is None:
            return f"{clause}; {cost}"
        joint = "and" if is_faster == is_cheaper else "but"
        return f"{clause} {joint} is {cost}"
    if is_faster is None:
        clause = f"{candidate} against {baseline}: {speed}"
        return f"{clause}; {cost if is_cheaper is None else f'{candidate} is {cost}'}"
    if is_cheaper is None:
        return f"{candidate} is {speed} than {baseline}; {cost}"
    joint = "and" if is_faster == is_cheaper else "but"
    return f"{candidate} is {speed} {joint} {cost} than {baseline}"


def compiler_clause(
    baseline: str, candidate: str, *, speedup: Interval, break_even: BreakEven
) -> str:
    """Return what is seen of two compilers on like instances, without a full stop.

    Their costs per step are as their times, so they are not told again.

    Args:
        baseline: Name of the set-up that the ratio refers to.
        candidate: Name of the other set-up.
        speedup: Step time of the baseline over that of the candidate.
        break_even: When the candidate has caught up with the baseline.
    """
    if speedup.spread in NO_CLAIM:
        return _one_launch(baseline, candidate, speedup)
    speed, is_faster = _speed(speedup)
    if is_faster is None:
        return f"{candidate} against {baseline}: {speed}"
    clause = f"{candidate} is {speed} than {baseline}"
    if break_even.steps is None:
        return clause
    mean, low, high = (
        f"{math.ceil(steps):,}"
        for steps in (break_even.steps.mean, break_even.steps.low, break_even.steps.high)
    )
    if mean == "0":
        return f"{clause} from the first step on"
    steps = f"{mean} step" if mean == "1" else f"{mean} steps"
    return (
        f"{clause} and has earned its overhead back after {steps} "
        f"(95 % interval {low}{_DASH}{high})"
    )


def single_clause(name: str, step_time_s: Interval) -> str:
    """Return what is seen of a cluster that has no other to be compared with."""
    mean, low, high = (
        f"{x:.4g}" for x in (step_time_s.mean, step_time_s.low, step_time_s.high)
    )
    return (
        f"{name} takes {mean} s for a step (95 % interval {low}{_DASH}{high}), and there is no "
        "other cluster to compare it with"
    )


def emulation_clause(emulation: Mapping[str, float | None] | None) -> str:
    """Return how hardware was stood in for, or nothing when it was there.

    Args:
        emulation: That of a ``Comparison``, or None.
    """
    if emulation is None:
        return ""
    device = " device" if emulation.get("device_step_time_s") is not None else ""
    clock = clock_words(emulation)
    return f"emulated{device}, {clock}" if clock else f"emulated{device}"


def verdict(
    clauses: Sequence[str],
    *,
    emulation: str = "",
    first: Sequence[Finding] = (),
    remarks: Sequence[Finding] = (),
) -> str:
    """Return the whole verdict: what is seen, what was emulated, what casts doubt on it.

    Args:
        clauses: What ``pair_clause`` returned for each pair, and what else was seen.
        emulation: What ``emulation_clause`` returned.
        first: What to know before all the rest.
        remarks: What else to tell.
    """
    parts = [*clauses, emulation] if emulation else list(clauses)
    before, behind = ([each.text for each in findings] for findings in (first, remarks))
    return " ".join([*before, f"{'; '.join(parts)}.", *behind])


def level_words(interval: Interval) -> str:
    """Return ``95 % interval``, and over how many set-ups and looks it holds."""
    over = []
    if interval.candidates > 1:
        over.append(f"all {interval.candidates + 1} set-ups")
    if interval.looks > 1:
        over.append("every look")
    return f"95 % interval over {' and '.join(over)}" if over else "95 % interval"


def _one_launch(baseline: str, candidate: str, speedup: Interval, unit: Unit = "step") -> str:
    return (
        f"{candidate} against {baseline}: {_RATIOS[unit]} in the ratio of {speedup.mean:.3g}, "
        "but one launch tells nothing of how much launches differ, so no difference is claimed"
    )


def _speed(speedup: Interval, unit: Unit = "step") -> tuple[str, bool | None]:
    """Return the words on speed, and whether the candidate is faster (None: not seen)."""
    side, what = speedup.side_of(1), _OF_SPEED[unit]
    if side == 0 and is_wide(speedup.low, speedup.high):
        return f"no difference seen in {what}, and none ruled out {_MORE}", None
    if side == 0:
        mean, low, high = _rounded(speedup, fewest=2)
        interval = f"({level_words(speedup)} {low}{_DASH}{high})"
        return f"no difference seen in {what}: ratio {mean} {interval}", None
    is_faster = side > 0
    if unit == "sample":
        mean, low, high = _rounded(speedup, fewest=1, claimed_from=1.0)
        interval = f"({level_words(speedup)} {low}{_DASH}{high})"
        return f"{mean}{_TIMES} the samples a second {interval}", is_faster
    shown = speedup if is_faster else speedup.inverse()
    mean, low, high = _rounded(shown, fewest=1, claimed_from=1.0)
    word = "faster" if is_faster else "slower"
    return f"{mean}{_TIMES} {word} ({level_words(speedup)} {low}{_DASH}{high})", is_faster


def _cost(
    saving: Interval | None, unpriced: Sequence[str], baseline: str, unit: Unit
) -> tuple[str, bool | None]:
    """Return the words on cost, and whether the candidate is cheaper (None: not seen)."""
    if saving is None and set(unpriced) == {LOCAL}:
        return NO_PRICE_HERE, None
    if saving is None and unpriced:
        verb = "has" if len(unpriced) == 1 else "have"
        return f"cost unknown: {', '.join(unpriced)} {verb} no price", None
    if saving is None:
        return f"costs not compared: {baseline} costs nothing", None
    percent = saving.scaled(100)
    side = saving.side_of(0)
    if side == 0 and is_wide(1 - saving.high, 1 - saving.low):
        return f"no difference seen in cost per {unit}, and none ruled out {_MORE}", None
    if side == 0:
        mean, low, high = (text.replace("-", _MINUS) for text in _rounded(percent, fewest=0))
        interval = f"({level_words(saving)} {low} % to {high} %)"
        return f"no difference seen in cost per {unit}: {mean} % saved {interval}", None
    is_cheaper = side > 0
    if not is_cheaper:
        percent = percent.negative()
    mean, low, high = _rounded(percent, fewest=0, claimed_from=0.0)
    word = "cheaper" if is_cheaper else "more expensive"
    return (
        f"{mean} % {word} per {unit} ({level_words(saving)} {low}{_DASH}{high} %)",
        is_cheaper,
    )


def _rounded(
    interval: Interval, *, fewest: int, claimed_from: float | None = None
) -> tuple[str, str, str]:
    """Return mean, low and high with as few decimals as keep them apart, at most 2 more.

    Where a difference is claimed, they are kept apart from what no difference would be.
    """
    values = [interval.mean, interval.low, interval.high]
    values += [] if claimed_from is None else [claimed_from]
    texts = [""]
    for decimals in range(fewest, fewest + 3):
        # adding 0.0 turns a rounded -0.0 into 0.0
        texts = [f"{round(x, decimals) + 0.0:.{decimals}f}" for x in values]
        if len(set(texts)) == len(values):
            break
    mean, low, high = texts[:3]
    return mean, low, high
