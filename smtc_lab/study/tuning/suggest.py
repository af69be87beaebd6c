"""Suggests hyperparameters: Optuna's samplers, so that the same past gives the same future."""

from __future__ import annotations

import hashlib
import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.spec.tuning.ranges import CategoricalParameter, ContinuousParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.spec.tuning.ranges import ParameterRange
    from smtc_lab.study.tuning.ledger import LedgerRow

NO_OPTUNA = (
    "The search of hyperparameters asks Optuna, which is not installed. Install it: "
    "pip install 'smtc-lab[tune]'. strategy='Grid' needs none."
)

_REVERSE = "1 - "
"""Stands before the name of what is searched by its distance to 1."""


class Suggestions:
    """Suggests the hyperparameters of trial after trial.

    What it suggests follows from the question, its seed, and the rows of the ledger alone: a
    sampler is made anew for each trial, from the seed and the trial's number.

    Args:
        question: What is searched.
        known: Trials of earlier searches: their hyperparameters, all within the ranges, and
            their objectives.

    Raises:
        SpecError: Optuna is not installed.
    """

    def __init__(
        self, question: TuningQuestion, known: Sequence[tuple[Mapping[str, Any], float]] = ()
    ) -> None:
        self._question, self._num_known = question, len(known)
        self._ranges = question.hyperparameter_ranges
        self._grid: list[tuple[Any, ...]] | None = None
        if question.strategy == "Grid":
            ranges = self._ranges.values()
            values = [one.values for one in ranges if isinstance(one, CategoricalParameter)]
            self._grid = list(itertools.product(*values))
            return
        self._optuna = _optuna()
        # the best place of a trial is its last value, whatever was seen on the way
        self._study = self._optuna.create_study(
            direction="minimize" if question.is_minimized else "maximize",
            sampler=self._optuna.samplers.RandomSampler(seed=0),
        )
        self._spaces = {
            name: _space(self._optuna, name, one) for name, one in self._ranges.items()
        }
        for parameters, value in known:
            self._add(self._optuna.trial.TrialState.COMPLETE, self._searched(parameters), value)

    def suggest(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the hyperparameters of the next trial, and what the sampler keeps with it.

        Args:
            number: Of the trial; its row is not among those that were told.
        """
        if self._grid is not None:
            return dict(zip(self._ranges, self._grid[number], strict=True)), {}
        self._study.sampler = self._sampler(number)
        trial = self._study.ask(dict(self._spaces.values()))
        parameters = {
            name: _value(one, trial.params[self._spaces[name][0]])
            for name, one in self._ranges.items()
        }
        asked = self._study.get_trials(deepcopy=False)[trial.number]  # not all of them anew
        attributes = dict(asked.system_attrs)
        return parameters, {"searched": trial.params, "sampler": attributes}

    def tell(self, row: LedgerRow) -> None:
        """Take in a row of the ledger that was written before, or one of an end."""
        if self._grid is not None:
            return
        states = self._optuna.trial.TrialState
        if row.what == "asked":
            attributes = row.attributes
            self._add(states.RUNNING, attributes["searched"], sampler=attributes["sampler"])
        elif row.what == "ended":
            has_value = row.value is not None and math.isfinite(row.value)
            state = states.COMPLETE if has_value else states.FAIL
            place = self._num_known + row.number
            self._study.tell(place, row.value if has_value else None, state)

    def _add(
        self,
        state: Any,  # noqa: ANN401  one of Optuna's
        searched: Mapping[str, Any],
        value: float | None = None,
        sampler: Mapping[str, Any] | None = None,
    ) -> None:
        made = self._optuna.trial.create_trial(
            state=state,
            params=searched,
            value=value,
            distributions=dict(self._spaces.values()),
            system_attrs=sampler,
        )
        self._study.add_trial(made)

    def _searched(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return hyperparameters as Optuna searches them."""
        names = {name: self._spaces[name][0] for name in self._ranges}
        return {
            names[name]: parameters[name] if names[name] == name else 1 - parameters[name]
            for name in self._ranges
        }

    def _sampler(self, number: int) -> Any:  # noqa: ANN401  one of Optuna's
        samplers = self._optuna.samplers
        seed = _seed(self._question.random_seed, number)
        if self._question.strategy != "Bayesian":
            return samplers.RandomSampler(seed=seed)
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)


def _seed(seed: int, number: int) -> int:
    found = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4)
    return int.from_bytes(found.digest(), "little")


def _space(optuna: ModuleType, name: str, one: ParameterRange) -> tuple[str, Any]:
    """Return what Optuna searches for a range, and how it is called there."""
    spaces = optuna.distributions
    if isinstance(one, CategoricalParameter):
        return name, spaces.CategoricalDistribution(one.values)
    if isinstance(one, ContinuousParameter):
        if one.scaling_type == "ReverseLogarithmic":
            low, high = 1 - one.max_value, 1 - one.min_value
            return _REVERSE + name, spaces.FloatDistribution(low, high, log=True)
        return name, spaces.FloatDistribution(
            one.min_value, one.max_value, log=one.is_logarithmic
        )
    return name, spaces.IntDistribution(one.min_value, one.max_value, log=one.is_logarithmic)


def _value(one: ParameterRange, searched: Any) -> Any:  # noqa: ANN401  of its range
    if isinstance(one, ContinuousParameter) and one.scaling_type == "ReverseLogarithmic":
        return min(max(1 - searched, one.min_value), one.max_value)
    return searched


def _optuna() -> ModuleType:
    try:
        import optuna  # noqa: PLC0415  nobody else needs it
    except ImportError as error:
        raise SpecError(NO_OPTUNA) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
