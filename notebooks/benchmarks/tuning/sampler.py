"""What a search finds and what it costs, beside Optuna's own loop."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna

from notebooks.benchmarks.tuning.played import PlayedTrials, played_search
from smtc_lab.spec.tuning.question import Strategy, TuningQuestion
from smtc_lab.spec.tuning.ranges import ContinuousParameter
from smtc_lab.study.tuning.ledger import LedgerRow
from smtc_lab.study.tuning.suggest import Suggestions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

Row = dict[str, Any]
Point = dict[str, float]

_LAST = 100
_STRATEGIES: tuple[Strategy, ...] = ("Random", "Bayesian")
_A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
               [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])  # fmt: skip
_P = 1e-4 * np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                      [2348, 1451, 3522, 2883, 3047, 6650],
                      [4047, 8828, 8732, 5743, 1091, 381]])  # fmt: skip
_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])


def branin(point: Point) -> float:
    """Return how far Branin's function is above its least value, 0.397887."""
    x, y = point["x0"], point["x1"]
    inner = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return inner**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10 - 0.397887


def hartmann6(point: Point) -> float:
    """Return how far Hartmann's function of six is above its least value, -3.32237."""
    x = np.array([point[f"x{place}"] for place in range(6)])
    return float(3.32237 - _ALPHA @ np.exp(-(_A * (x - _P) ** 2).sum(axis=1)))


FUNCTIONS: Mapping[str, tuple[Callable[[Point], float], Sequence[tuple[float, float]]]] = {
    "Branin": (branin, [(-5.0, 10.0), (0.0, 15.0)]),
    "Hartmann6": (hartmann6, [(0.0, 1.0)] * 6),
}
"""Functions with the ends of what they take."""


def regret_rows(*, seeds: int, trials: int) -> Iterator[Row]:
    """Yield what the best of so many trials misses, with ours and Optuna's in turn."""
    for seed in range(seeds):
        for name, (function, ends) in FUNCTIONS.items():
            for way, best in (("ours", _ours), ("Optuna", _optunas)):
                regret = best(function, ends, trials, seed)
                row = {"function": name, "way": way, "seed": seed, "regret": regret}
                yield {"what": "regret", "trials": trials, **row}


def cost_rows(folder: Path, *, trials: int, rounds: int) -> Iterator[Row]:
    """Yield the CPU time of a trial among the last hundred of so many, ours and Optuna's."""
    _, ends = FUNCTIONS["Branin"]
    for number in range(rounds):
        for strategy in _STRATEGIES:
            question = _question(ends, trials, number, strategy)
            for way in ("ours", "Optuna"):
                if way == "ours":
                    seen = _our_times(folder / f"{number}-{strategy}", question)
                else:
                    seen = _optuna_times(ends, trials, number, strategy)
                cpu_ms = 1e3 * (seen[-1] - seen[-_LAST - 1]) / _LAST
                row = {"way": way, "strategy": strategy, "round": number, "cpu_ms": cpu_ms}
                yield {"what": "cost", "trials": trials, **row}


def _question(
    ends: Sequence[tuple[float, float]], trials: int, seed: int, strategy: Strategy = "Bayesian"
) -> TuningQuestion:
    return TuningQuestion(
        objective_metric_name="loss",
        objective_type="Minimize",
        hyperparameter_ranges={
            f"x{place}": ContinuousParameter(*one, "Linear") for place, one in enumerate(ends)
        },
        strategy=strategy,
        max_jobs=trials,
        random_seed=seed,
    )


def _ours(
    function: Callable[[Point], float],
    ends: Sequence[tuple[float, float]],
    trials: int,
    seed: int,
) -> float:
    suggestions, best = Suggestions(_question(ends, trials, seed)), math.inf
    for number in range(trials):
        parameters, _ = suggestions.suggest(number)
        value = function(parameters)
        suggestions.tell(LedgerRow(what="ended", number=number, value=value))
        best = min(best, value)
    return best


def _optunas(
    function: Callable[[Point], float],
    ends: Sequence[tuple[float, float]],
    trials: int,
    seed: int,
) -> float:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    spaces = _spaces(ends)
    study.optimize(
        lambda trial: function({name: trial.suggest_float(name, *one) for name, one in spaces}),
        n_trials=trials,
    )
    return float(study.best_value)


def _spaces(ends: Sequence[tuple[float, float]]) -> list[tuple[str, tuple[float, float]]]:
    return [(f"x{place}", one) for place, one in enumerate(ends)]


def _our_times(folder: Path, question: TuningQuestion) -> list[float]:
    """Return the CPU time of the process whenever a trial begins, in seconds."""
    seen: list[float] = []
    trials = PlayedTrials(
        root=folder / "runs",
        curve=lambda values: [branin(values)],
        begun=lambda: seen.append(time.process_time()),
    )
    with played_search(folder / "study", question, trials) as search:
        search.run()
    return seen


def _optuna_times(
    ends: Sequence[tuple[float, float]], trials: int, seed: int, strategy: str
) -> list[float]:
    kinds = optuna.samplers
    sampler: Any = kinds.RandomSampler(seed=seed)
    if strategy == "Bayesian":
        sampler = kinds.TPESampler(seed=seed)
    study = optuna.create_study(sampler=sampler)
    float_of = optuna.distributions.FloatDistribution
    spaces: dict[str, Any] = {name: float_of(*one) for name, one in _spaces(ends)}
    seen = []
    for _ in range(trials):
        trial = study.ask(spaces)
        seen.append(time.process_time())
        study.tell(trial, branin(trial.params))
    return seen
