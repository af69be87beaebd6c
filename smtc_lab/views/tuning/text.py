"""A search of hyperparameters in words: a sentence, and a table of its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.text_table import aligned
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.set_ups import RowInfo

if TYPE_CHECKING:
    from smtc_lab.metrics.tuning.found import Trial, TuningFound

MOST_SHOWN = 20
"""Trials of a table, at most: the best ones."""

_LONGEST = 40


def sentence(found: TuningFound) -> str:
    """Return the best trial, and what the search has cost, in one or two sentences."""
    best = found.best
    ended = sum(trial.state in {"Completed", "Stopped", "Failed"} for trial in found.trials)
    told = f"{ended} of {fmt.count(found.num_trials, 'trial')} ended"
    usd = found.usd
    if usd is not None:
        of_budget = "" if found.budget_usd is None else f" of {fmt.usd(found.budget_usd)}"
        told += f", {fmt.usd(usd)}{of_budget} spent"
    why = f" {found.why_ended}" if found.why_ended else ""
    if best is None or best.value is None:
        return f"{told}. None has a {fmt.plain(found.objective)} yet.{why}"
    word = "least" if found.is_minimized else "greatest"
    return (
        f"The {word} {fmt.plain(found.objective)} is {best.value:.6g}, with "
        f"{parameters_text(best)} (trial {best.number}). {told}.{why}"
    )


def parameters_text(trial: Trial) -> str:
    """Return the hyperparameters of a trial."""
    return ", ".join(
        f"{fmt.plain(name, _LONGEST)} {_value(value)}"
        for name, value in trial.parameters.items()
    )


def trial_rows(found: TuningFound) -> tuple[RowInfo, ...]:
    """Return the best trials as rows of a table with one column."""
    return tuple(
        RowInfo(
            label=f"{trial.number}: {parameters_text(trial)}",
            cells=(tuple(filter(None, (_objective(trial), *_details(trial)))),),
        )
        for trial in found.best_first[:MOST_SHOWN]
    )


def tuning_text(found: TuningFound) -> str:
    """Return what was found for a terminal and an e-mail."""
    names = list(dict.fromkeys(name for one in found.trials for name in one.parameters))
    head = ["trial", *names, fmt.plain(found.objective, _LONGEST), "state", "steps", "cost"]
    shown = found.best_first
    table = [[fmt.plain(name, _LONGEST) for name in head]]
    table += [
        [
            str(trial.number),
            *(_value(trial.parameters.get(name)) for name in names),
            _objective(trial),
            trial.state,
            f"{trial.steps:,}",
            fmt.UNKNOWN if trial.usd is None else fmt.usd(trial.usd),
        ]
        for trial in shown[:MOST_SHOWN]
    ]
    left = len(shown) - MOST_SHOWN
    more = [f"{fmt.count(left, 'trial')} more, with --json."] if left > 0 else []
    failed = next((one for one in found.trials if one.state == "Failed" and one.reason), None)
    why = [f"Trial {failed.number} failed: {fmt.plain(failed.reason)}"] if failed else []
    return "\n".join([*aligned(table), *more, *why, "", sentence(found)])


def _objective(trial: Trial) -> str:
    return fmt.UNKNOWN if trial.value is None else f"{trial.value:.6g}"


def _details(trial: Trial) -> tuple[str, ...]:
    usd = "" if trial.usd is None else fmt.usd(trial.usd)
    return trial.state, fmt.count(trial.steps, "step"), usd, fmt.plain(trial.reason)


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return fmt.plain(str(value), _LONGEST)
