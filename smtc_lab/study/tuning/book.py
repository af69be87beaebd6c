"""Where a study stands, by its ledger: its trials, in which order they ended, its rungs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.tuning.found import (
    Trial,
    TuningFound,
    best_of,
    is_better,
    since_best,
)
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.study.tuning.rungs import Rungs

if TYPE_CHECKING:
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.tuning.ledger import LedgerRow

QUESTION = "question"
"""Option of a request: what is searched."""


def question_of(request: StudyRequest) -> TuningQuestion:
    """Return what a request asks.

    Raises:
        SpecError: It is damaged.
    """
    return TuningQuestion.model_validate(request.options.get(QUESTION))


def run_name(study: str, number: int) -> str:
    """Return the job name of a trial."""
    return f"{study}-t{number:04}"


@dataclass
class TrialBook:
    """The trials of a study, as far as its ledger tells."""

    question: TuningQuestion
    """What is searched."""

    study: str
    """Name of the study."""

    trials: list[Trial] = field(default_factory=list)
    """By number."""

    ended: list[int] = field(default_factory=list)
    """Numbers of those that have ended, in the order in which they did."""

    rungs: Rungs | None = None
    """Of successive halving; None: trials are not halved."""

    def __post_init__(self) -> None:
        self.rungs = Rungs.of(self.question)

    def take(self, row: LedgerRow) -> None:
        """Take in what happened next; a row of a trial that nobody asked for counts nothing."""
        if row.what == "asked":
            if row.number == len(self.trials):
                name = run_name(self.study, row.number)
                self.trials.append(
                    Trial(number=row.number, run=name, parameters=row.parameters)
                )
            return
        if not 0 <= row.number < len(self.trials):
            return
        state = {"paused": "Paused", "promoted": "InProgress"}.get(row.what, row.state)
        if row.what == "promoted":
            self._change(row.number, state=state)
            if self.rungs is not None:
                self.rungs.goes_on(row.number, self.trials[row.number].points)
            return
        self._change(
            row.number,
            state=state,
            value=row.value,
            points=row.points,
            steps=row.steps,
            seconds=row.seconds,
            usd=row.usd,
            reason=row.reason,
        )
        if row.what == "ended":
            self.ended.append(row.number)
        elif self.rungs is not None and row.value is not None:
            self.rungs.came(row.number, row.points, row.value)

    def in_state(self, state: str) -> list[Trial]:
        """Return the trials that are in a state, by number."""
        return [trial for trial in self.trials if trial.state == state]

    @property
    def has_ended(self) -> list[Trial]:
        """The trials that have ended, in the order in which they did."""
        return [self.trials[number] for number in self.ended]

    def why_complete(self) -> str:
        """Return which of its completion criteria is met; empty: none is."""
        criteria, is_minimized = (
            self.question.completion_criteria_config,
            self.question.is_minimized,
        )
        if criteria is None:
            return ""
        target = criteria.target_objective_metric_value
        best = best_of(self.trials, is_minimized=is_minimized)
        if target is not None and best is not None and best.value is not None:
            is_missed = is_better(target, best.value, is_minimized=is_minimized)
            if not is_missed:
                return f"Trial {best.number} is as good as {target:g}."
        most = criteria.max_number_of_training_jobs_not_improving
        since = since_best(self.has_ended, is_minimized=is_minimized)
        if most is not None and since >= most:
            return f"{since} trials in a row were no better than the best."
        return ""

    def found(self, request: StudyRequest, *, why_ended: str = "") -> TuningFound:
        """Return what was found so far.

        Args:
            request: Of the study.
            why_ended: Why it ended before all trials were made; empty: it did not.
        """
        question = self.question
        return TuningFound(
            created=request.created.isoformat(timespec="seconds"),
            entry_point=request.jobs[0].entry_point,
            objective=question.objective_metric_name,
            is_minimized=question.is_minimized,
            strategy=question.strategy,
            num_trials=question.num_trials,
            trials=tuple(self.trials),
            budget_usd=question.budget_usd,
            why_ended=why_ended,
            evidence=evidence_of(*request.jobs),
        )

    def _change(self, number: int, **changes: object) -> None:
        self.trials[number] = self.trials[number].model_copy(update=changes)
