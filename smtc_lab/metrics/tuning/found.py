"""What a search of hyperparameters found: the schema of ``tuning.json``, version 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from smtc_lab.display import Displayed
from smtc_lab.errors import StoreError
from smtc_lab.machine.installed import pandas
from smtc_lab.metrics.result import Evidence, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMA_VERSION: Literal[1] = 1


class Trial(Result):
    """One point that was tried: a training job of its own."""

    number: int
    """From 0, in the order in which they were suggested."""

    run: str
    """Job name of its run."""

    parameters: dict[str, Any]
    """Its hyperparameters, of those that are searched."""

    state: Literal["InProgress", "Paused", "Completed", "Stopped", "Failed"] = "InProgress"
    """``Paused``: it waits at a rung. ``Stopped``: it was no longer promising, or its user
    stopped it."""

    value: float | None = None
    """Its objective, as far as it is trained; None: it has none."""

    points: int = 0
    """Values of the objective so far."""

    steps: int = 0
    """Steps that it has taken."""

    seconds: float = 0.0
    """Time that it was trained for, in seconds; of an emulation in cluster time."""

    usd: float | None = None
    """What it has cost, in USD; None: its price is unknown."""

    reason: str = ""
    """Why it ended so; empty: there is nothing to say."""

    @property
    def counts(self) -> bool:
        """Whether its objective is known, and is a number that can be compared."""
        return self.value is not None and math.isfinite(self.value)


class TuningFound(Displayed, Result):
    """What a search of hyperparameters found, or has found so far."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    created: str
    """When it was asked for, ISO 8601 with time zone."""

    entry_point: str
    """The script that is trained."""

    objective: str
    """Name of the metric that is least or greatest."""

    is_minimized: bool
    """Whether less is better."""

    strategy: str
    """How it was searched."""

    num_trials: int
    """Trials in all, if nothing ends it before."""

    trials: tuple[Trial, ...]
    """What was tried, by number."""

    budget_usd: float | None = None
    """Most that it may cost, in USD; None: no limit."""

    why_ended: str = ""
    """Why it ended before all trials were made, a sentence; empty: it did not."""

    evidence: Evidence = "measured"
    """``emulated``: a device or an instance was, and money is of the emulated cluster."""

    machine: dict[str, object] = Field(default_factory=dict)
    """The machine that it ran on: CPU, cores, memory, versions."""

    @property
    def best(self) -> Trial | None:
        """The trial with the best objective; None: no trial has one. Of equals the first."""
        return best_of(self.trials, is_minimized=self.is_minimized)

    @property
    def best_first(self) -> list[Trial]:
        """The trials, the best first, and those without an objective last."""
        return best_first(self.trials, is_minimized=self.is_minimized)

    @property
    def usd(self) -> float | None:
        """What all trials have cost so far, in USD; None: a price is unknown."""
        known = [trial.usd for trial in self.trials if trial.usd is not None]
        has_all = all(trial.usd is not None for trial in self.trials if trial.steps)
        return sum(known) if known and has_all else None

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame`` of the trials, by SageMaker's names of its columns.

        Hyperparameters, ``TrainingJobName``, ``TrainingJobStatus``, ``FinalObjectiveValue``,
        ``TrainingElapsedTimeSeconds``, and ``Steps`` and ``CostUSD`` beside them.

        Raises:
            StoreError: pandas is not installed.
        """
        library = pandas(without="tuning.trials has all of it", refusal=StoreError)
        return library.DataFrame(
            [
                {
                    **trial.parameters,
                    "TrainingJobName": trial.run,
                    "TrainingJobStatus": trial.state,
                    "FinalObjectiveValue": trial.value,
                    "TrainingElapsedTimeSeconds": trial.seconds,
                    "Steps": trial.steps,
                    "CostUSD": trial.usd,
                }
                for trial in self.trials
            ]
        )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return self.model_dump_json(indent=indent)


def is_better(one: float, other: float, *, is_minimized: bool) -> bool:
    """Return whether an objective is better than another."""
    return one < other if is_minimized else one > other


def best_of(trials: Iterable[Trial], *, is_minimized: bool) -> Trial | None:
    """Return the trial with the best objective, of equals the first; None: none has one."""
    best: Trial | None = None
    for trial in trials:
        if not trial.counts or trial.value is None:
            continue
        if (
            best is None
            or best.value is None
            or is_better(trial.value, best.value, is_minimized=is_minimized)
        ):
            best = trial
    return best


def best_first(trials: Iterable[Trial], *, is_minimized: bool) -> list[Trial]:
    """Return trials, the best first, and those without an objective last."""
    sign = 1.0 if is_minimized else -1.0

    def place(trial: Trial) -> tuple[bool, float, int]:
        value = trial.value if trial.counts and trial.value is not None else 0.0
        return not trial.counts, sign * value, trial.number

    return sorted(trials, key=place)


def since_best(trials: Sequence[Trial], *, is_minimized: bool) -> int:
    """Return how many trials have ended with an objective since the best one did.

    Args:
        trials: Those that have ended, in the order in which they did.
        is_minimized: Whether less is better.
    """
    counted = [trial for trial in trials if trial.counts]
    best = best_of(counted, is_minimized=is_minimized)
    return 0 if best is None else len(counted) - 1 - counted.index(best)
