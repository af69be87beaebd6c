"""What a tuning job is asked: objective, ranges, strategy, and when it ends."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from smtc_lab.spec.base import PlainText, Strict
from smtc_lab.spec.tuning.ranges import CategoricalParameter, ParameterRange

MOST_RANGES = 30
"""Hyperparameters that are searched, at most: SageMaker's limit."""

MOST_JOBS = 10_000
"""Trials of one study, at most: SageMaker's limit of a random search."""

_MOST_PARALLEL = 100
_MOST_PARENTS = 5

Strategy = Literal["Bayesian", "Random", "Hyperband", "Grid"]


class HyperbandStrategyConfig(Strict):
    """How long a trial is trained before the worse ones are stopped."""

    min_resource: Annotated[int, Field(json_schema_extra={"minimum": 1})] = 1
    """Values of the objective after which a trial is judged first, at least 1."""

    max_resource: Annotated[int, Field(json_schema_extra={"minimum": 1})] = 27
    """Values of the objective of a trial that is trained to its end, up to 20,000."""

    @model_validator(mode="after")
    def _goes_up(self) -> Self:
        if not 1 <= self.min_resource < self.max_resource <= 20_000:
            raise ValueError(
                f"HyperbandStrategyConfig goes from min_resource={self.min_resource} to "
                f"max_resource={self.max_resource}. Give numbers with 1 <= min_resource < "
                "max_resource <= 20000."
            )
        return self


class TuningJobCompletionCriteriaConfig(Strict):
    """When a study ends before all of its trials are made."""

    max_number_of_training_jobs_not_improving: Annotated[
        int | None, Field(json_schema_extra={"minimum": 3})
    ] = None
    """End when so many trials in a row were no better than the best; 3 or more."""

    target_objective_metric_value: float | None = None
    """End as soon as a trial is as good as that."""


class WarmStartConfig(Strict):
    """Earlier searches whose trials are known from the begin."""

    warm_start_type: Literal["IdenticalDataAndAlgorithm", "TransferLearning"]
    """``IdenticalDataAndAlgorithm``: of the same script and the same ranges.
    ``TransferLearning``: ranges may differ, and trials outside of them do not count."""

    parents: Annotated[tuple[PlainText, ...], Field(strict=False)]
    """Names of the searches, 1 to 5."""

    @model_validator(mode="after")
    def _has_parents(self) -> Self:
        if not 1 <= len(self.parents) <= _MOST_PARENTS:
            raise ValueError(
                f"WarmStartConfig has {len(self.parents)} parents, but may have 1 to "
                f"{_MOST_PARENTS}. Change them."
            )
        return self


class TuningQuestion(Strict):
    """What is searched, and when the search ends."""

    objective_metric_name: PlainText
    """Metric of a trial that is to be least or greatest; its last value counts."""

    hyperparameter_ranges: dict[str, ParameterRange]
    """What is searched, by the name of the hyperparameter."""

    objective_type: Literal["Minimize", "Maximize"] = "Maximize"
    """Whether less or more is better. SageMaker's is ``Maximize`` where nothing is said."""

    strategy: Strategy = "Bayesian"
    """``Bayesian``: by what earlier trials found. ``Random``. ``Hyperband``: random, and
    trials that are worse at the same number of values wait; the best go on. ``Grid``: all
    combinations of categorical values."""

    max_jobs: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MOST_JOBS})] = 1
    """Trials in all; of a grid as many as there are combinations."""

    max_parallel_jobs: Annotated[int, Field(json_schema_extra={"minimum": 1})] = 1
    """Trials at once."""

    max_runtime_in_seconds: float | None = None
    """Longest time of the study; None: as long as it takes."""

    budget_usd: float | None = None
    """Most that all trials may cost, in USD: none begins, and none goes on, beyond it."""

    early_stopping_type: Literal["Off", "Auto"] = "Off"
    """``Auto``: a trial that is worse than the median of the others' running means, at the
    same number of values, is stopped."""

    strategy_config: HyperbandStrategyConfig | None = None
    """Of ``Hyperband``."""

    completion_criteria_config: TuningJobCompletionCriteriaConfig | None = None
    """When it ends early."""

    warm_start_config: WarmStartConfig | None = None
    """Of ``Bayesian``: earlier searches to learn from."""

    random_seed: int = 0
    """The same seed and the same results of trials give the same suggestions."""

    @property
    def is_minimized(self) -> bool:
        """Whether less is better."""
        return self.objective_type == "Minimize"

    @property
    def num_combinations(self) -> int:
        """Combinations of all values of categorical ranges."""
        ranges = self.hyperparameter_ranges.values()
        return math.prod(
            len(one.values) for one in ranges if isinstance(one, CategoricalParameter)
        )

    @property
    def num_trials(self) -> int:
        """Trials in all, if nothing ends it before."""
        return self.num_combinations if self.strategy == "Grid" else self.max_jobs

    @model_validator(mode="after")
    def _has_ranges(self) -> Self:
        ranges = self.hyperparameter_ranges
        if not ranges:
            raise ValueError(
                "Need to specify hyperparameter ranges. Give at least one: "
                "{'lr': ContinuousParameter(1e-4, 1e-1)}."
            )
        if len(ranges) > MOST_RANGES:
            raise ValueError(
                f"{len(ranges)} hyperparameters would be searched, but {MOST_RANGES} may be. "
                "Give the others a value in the job."
            )
        numeric = [name for name, one in ranges.items() if one.kind != "Categorical"]
        if self.strategy == "Grid" and numeric:
            raise ValueError(
                f"A Grid search takes categorical ranges alone, and {numeric[0]!r} is none. "
                "Give its values in a CategoricalParameter, or take another strategy."
            )
        if self.strategy == "Grid" and self.num_combinations > MOST_JOBS:
            raise ValueError(
                f"The grid has {self.num_combinations:,} combinations, but may have "
                f"{MOST_JOBS:,}. Leave values out."
            )
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name, least, most in (
            ("max_jobs", 1, MOST_JOBS),
            ("max_parallel_jobs", 1, _MOST_PARALLEL),
        ):
            if not least <= getattr(self, name) <= most:
                raise ValueError(
                    f"{name}={getattr(self, name)} is outside {least} to {most:,}. Change it."
                )
        for name in ("budget_usd", "max_runtime_in_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name}={value:g} is not above 0. Raise it, or leave it out.")
        if self.strategy == "Hyperband" and self.early_stopping_type != "Off":
            raise ValueError(
                "early_stopping_type has to be 'Off' with the strategy Hyperband, which stops "
                "trials by itself. Leave it out."
            )
        if self.strategy_config is not None and self.strategy != "Hyperband":
            raise ValueError(
                f"strategy_config is of Hyperband, and the strategy is {self.strategy}. Leave "
                "one of them out."
            )
        if self.warm_start_config is not None and self.strategy != "Bayesian":
            raise ValueError(
                f"warm_start_config is of Bayesian, and the strategy {self.strategy} learns "
                "from no trial. Leave one of them out."
            )
        criteria = self.completion_criteria_config
        num = None if criteria is None else criteria.max_number_of_training_jobs_not_improving
        if num is not None and num < 3:
            raise ValueError(
                f"max_number_of_training_jobs_not_improving={num} is below 3. Raise it."
            )
        return self
