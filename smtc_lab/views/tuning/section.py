"""What a search shows below its answer: from its trials to what a browser draws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.tuning.found import is_better
from smtc_lab.metrics.tuning.importance import FEWEST, importances
from smtc_lab.spec.tuning.ranges import CategoricalParameter
from smtc_lab.views.study.info import Section
from smtc_lab.views.text import format as fmt
from smtc_lab.views.tuning.info import (
    BestInfo,
    SearchedInfo,
    TrialInfo,
    TuningInfo,
)
from smtc_lab.views.tuning.text import trial_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.tuning.found import Trial, TuningFound
    from smtc_lab.spec.tuning.ranges import ParameterRange
    from smtc_lab.views.tuning.follower import TuningFollower

TUNING_SECTION = "tuning"
"""Name of the section."""

_MOST_TRIALS = 300
_MOST_JUDGED = 1000
_MOST_POINTS = 300
_LONGEST = 60
_ENDED = {"Completed", "Stopped", "Failed"}


def tuning_section(follower: TuningFollower) -> Section:
    """Return what a search shows: pictures, the trials in words, what matters."""
    found = follower.found
    ranges = follower.question.hyperparameter_ranges
    searched = _searched(found, ranges)
    shown = found.best_first
    points = () if follower.pareto is None else follower.pareto.points
    left_out = () if follower.pareto is None else follower.pareto.left_out
    more = len(shown) - _MOST_TRIALS
    info = TuningInfo(
        name=follower.run.name,
        objective=found.objective,
        is_minimized=found.is_minimized,
        strategy=found.strategy,
        evidence=found.evidence,
        num_trials=found.num_trials,
        begun=len(found.trials),
        ended=sum(trial.state in _ENDED for trial in found.trials),
        budget_usd=found.budget_usd,
        usd=found.usd,
        searched=searched,
        trials=tuple(_trial(trial, ranges) for trial in shown[:_MOST_TRIALS]),
        so_far=so_far(found, follower.book.ended),
        curves=follower.curves.of(shown),
        pareto=tuple(one for one in points[:_MOST_POINTS] if math.isfinite(one.value)),
        left_out=(
            *((f"{fmt.count(more, 'trial')} more than are drawn.",) if more > 0 else ()),
            *left_out,
        ),
    )
    return Section(
        name=TUNING_SECTION,
        sentence=what_matters(searched, sum(trial.counts for trial in found.trials)),
        rows=trial_rows(found),
        values=info,
    )


def so_far(found: TuningFound, ended: Sequence[int]) -> tuple[BestInfo, ...]:
    """Return where the best objective became another, in the order in which trials ended.

    Args:
        found: The trials.
        ended: Numbers of those that have ended, in that order; empty: by number.
    """
    order = ended or [trial.number for trial in found.trials if trial.state in _ENDED]
    changes: list[BestInfo] = []
    usd: float | None = 0.0
    for count, number in enumerate(order, start=1):
        if not 0 <= number < len(found.trials):
            continue
        trial = found.trials[number]
        # one that made no step costs nothing, and has no price
        usd = (
            None
            if usd is None or (trial.usd is None and trial.steps)
            else usd + (trial.usd or 0)
        )
        best, value = (changes[-1] if changes else None), trial.value
        if (
            value is not None
            and trial.counts
            and (
                best is None
                or is_better(value, best.objective, is_minimized=found.is_minimized)
            )
        ):
            best = BestInfo(trials=count, usd=usd, trial=number, objective=value)
        elif best is None or count < len(order):
            continue
        else:
            best = BestInfo(trials=count, usd=usd, trial=best.trial, objective=best.objective)
        changes.append(best)
    return tuple(changes)


def what_matters(searched: Sequence[SearchedInfo], num: int) -> str:
    """Return which hyperparameters matter, a sentence.

    Args:
        searched: With their importances.
        num: Trials that have an objective.
    """
    known = [(one.importance, one.name) for one in searched if one.importance is not None]
    if not known:
        return (
            f"{fmt.count(num, 'trial')} with an objective: what matters is estimated from "
            f"{FEWEST} different ones on."
        )
    told = ", ".join(
        f"{fmt.plain(name, _LONGEST)} {fmt.percent(share)}"
        for share, name in sorted(known, reverse=True)[:5]
    )
    trials = fmt.count(num, "trial")
    return f"Estimated from {trials}, each by itself explains of their order: {told}."


def _searched(
    found: TuningFound, ranges: dict[str, ParameterRange]
) -> tuple[SearchedInfo, ...]:
    judged = [trial for trial in found.trials if trial.counts][-_MOST_JUDGED:]
    shares = importances(
        [
            np.array([_place(one.parameters.get(name), each) for one in judged], dtype=float)
            for name, each in ranges.items()
        ],
        [isinstance(each, CategoricalParameter) for each in ranges.values()],
        [trial.value or 0.0 for trial in judged],
    )
    return tuple(
        SearchedInfo(
            name=name,
            low=0.0 if isinstance(each, CategoricalParameter) else each.min_value,
            high=(
                len(each.values) - 1.0
                if isinstance(each, CategoricalParameter)
                else each.max_value
            ),
            is_log=not isinstance(each, CategoricalParameter) and each.is_logarithmic,
            choices=(
                tuple(fmt.plain(str(value), _LONGEST) for value in each.values)
                if isinstance(each, CategoricalParameter)
                else ()
            ),
            importance=share,
        )
        for (name, each), share in zip(ranges.items(), shares, strict=True)
    )


def _trial(trial: Trial, ranges: dict[str, ParameterRange]) -> TrialInfo:
    return TrialInfo(
        number=trial.number,
        run=trial.run,
        state=trial.state,
        objective=trial.value if trial.counts else None,
        values=tuple(_place(trial.parameters.get(name), each) for name, each in ranges.items()),
        points=trial.points,
        steps=trial.steps,
        usd=trial.usd,
        reason=fmt.plain(trial.reason),
    )


def _place(value: object, among: ParameterRange) -> float | None:
    """Return a value as a number: of one of several its place; None: it is none of them."""
    if isinstance(among, CategoricalParameter):
        found = [place for place, one in enumerate(among.values) if one == value]
        return float(found[0]) if found else None
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]  # it is one
