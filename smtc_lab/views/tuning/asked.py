"""What a form asks of a search of hyperparameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from smtc_lab.spec.base import Strict
from smtc_lab.spec.tuning.question import HyperbandStrategyConfig, Strategy, TuningQuestion
from smtc_lab.spec.tuning.ranges import parse_ranges

_MOST_RANGES = 100
_LONGEST = 1_000


class TypedQuestion(Strict):
    """A search as it was typed into a form."""

    metric: Annotated[str, Field(max_length=_LONGEST)]
    """Name of the objective."""

    ranges: Annotated[
        list[Annotated[str, Field(max_length=_LONGEST)]], Field(max_length=_MOST_RANGES)
    ]
    """What is searched, each as ``smtc-lab tune --range`` has it."""

    maximize: bool = False
    """Whether the greatest value is best."""

    strategy: Strategy = "Bayesian"
    """How it is searched."""

    trials: int = 20
    """Trials in all."""

    budget_usd: float | None = None
    """Most that all trials may cost, in USD; None: no limit."""


def asked_question(values: object) -> TuningQuestion:
    """Return what a form asks.

    Args:
        values: A ``TypedQuestion`` as JSON, legal or not.

    Raises:
        SpecError: It cannot be searched; says what to do.
    """
    typed = TypedQuestion.model_validate(values)
    return TuningQuestion(
        objective_metric_name=typed.metric,
        objective_type="Maximize" if typed.maximize else "Minimize",
        hyperparameter_ranges=parse_ranges(typed.ranges),
        strategy=typed.strategy,
        strategy_config=HyperbandStrategyConfig() if typed.strategy == "Hyperband" else None,
        max_jobs=typed.trials,
        budget_usd=typed.budget_usd,
    )
