"""Successive halving and budgets, over trials that are played from learning curves."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.tuning.played import PlayedTrials, played_search
from smtc_lab.spec.tuning.question import HyperbandStrategyConfig, TuningQuestion
from smtc_lab.spec.tuning.ranges import parse_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Row = dict[str, Any]

LENGTH = 81
"""Values of the objective of a trial that is trained to its end."""

STEP_USD = 0.002
"""Price of a step of the widest network, in USD."""

_RANGES = ("lr=log:1e-4..1e0", "momentum=reverse-log:0.5..0.999", "width=log:8..512")
_FIRST = 3


def loss_curve(values: dict[str, Any], *, length: int = LENGTH) -> list[float]:
    """Return a learning curve: a power of the step above a floor, with noise.

    A good learning rate has a low floor, a great one is quick at first and ends high; width
    lowers the floor and slows the fall. So curves cross.
    """
    off = math.log10(values["lr"]) + 2 + 0.5 * math.log10(1 - values["momentum"])
    size = math.log2(values["width"] / 8)
    floor = 0.1 + 0.05 * off**2 + 0.3 / (1 + size)
    power = min(1.5, max(0.15, 0.6 + 0.25 * off - 0.03 * size))
    random = Random(repr(sorted(values.items())))  # noqa: S311  noise, no secret
    return [
        floor + 2.0 * step**-power + random.gauss(0.0, 0.01) for step in range(1, length + 1)
    ]


def halving_rows(
    folder: Path, *, seeds: int, trials: int, firsts: Sequence[int]
) -> Iterator[Row]:
    """Yield the steps and the losses of halving, and of training the same trials fully.

    Args:
        folder: For what they keep.
        seeds: Searches of each kind.
        trials: Of each search.
        firsts: Values of the objective after which halving judges a trial first.
    """
    for seed in range(seeds):
        for first in (None, *firsts):
            fields: dict[str, Any] = {"strategy": "Random"}
            if first is not None:
                config = HyperbandStrategyConfig(min_resource=first, max_resource=LENGTH)
                fields = {"strategy": "Hyperband", "strategy_config": config}
            played = PlayedTrials(root=folder / f"{seed}-{first}" / "runs", curve=loss_curve)
            question = _question(trials, seed, **fields)
            with played_search(played.root.parent / "study", question, played) as search:
                search.run()
                tried = search.book.trials
            yield {
                "what": "halving",
                "seed": seed,
                "first": first,
                "trials": trials,
                "steps": sum(trial.steps for trial in tried),
                "losses": [trial.value for trial in tried if trial.state == "Completed"],
            }


def budget_rows(folder: Path, *, seeds: int, trials: int) -> Iterator[Row]:
    """Yield what searches with a budget spent, and what was to be expected of them.

    A step's price grows with the width. Expected is the mean of the first three trials, for
    all trials.
    """
    for seed in range(seeds):
        share = 0.3 + 0.1 * (seed % 8)
        spent_usd = _spent(folder / f"{seed}-all", trials, seed, None)
        budget_usd = share * sum(spent_usd)
        spent = _spent(folder / str(seed), trials, seed, budget_usd)
        yield {
            "what": "budget",
            "seed": seed,
            "budget_usd": budget_usd,
            "spent_usd": sum(spent),
            "trials": len(spent),
            "of_trials": trials,
        }
        expected = trials * sum(spent_usd[:_FIRST]) / _FIRST
        told = {"expected_usd": expected, "spent_usd": sum(spent_usd)}
        yield {"what": "expected", "kind": "played", "seed": seed, "trials": trials, **told}


def _spent(folder: Path, trials: int, seed: int, budget_usd: float | None) -> list[float]:
    question = _question(trials, seed, strategy="Bayesian", budget_usd=budget_usd)
    played = PlayedTrials(
        root=folder / "runs",
        curve=lambda values: loss_curve(values, length=20),
        usd_per_step=lambda values: STEP_USD * (1 + values["width"] / 512) / 2,
    )
    with played_search(folder / "study", question, played) as search:
        search.run()
        return [trial.usd or 0.0 for trial in search.book.trials]


def _question(trials: int, seed: int, **fields: Any) -> TuningQuestion:  # noqa: ANN401  of a question
    return TuningQuestion(
        objective_metric_name="loss",
        objective_type="Minimize",
        hyperparameter_ranges=dict(map(parse_range, _RANGES)),
        max_jobs=trials,
        random_seed=seed,
        **fields,
    )
