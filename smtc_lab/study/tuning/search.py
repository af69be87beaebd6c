"""The search itself: suggests, trains, judges, and writes all of it down before it counts."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.tuning.book import TrialBook
from smtc_lab.study.tuning.judge import AT_RUNG, STOPPED, TO_ITS_END, Judge
from smtc_lab.study.tuning.ledger import LedgerRow
from smtc_lab.study.tuning.objective_values import ObjectiveValues
from smtc_lab.study.tuning.purse import Purse
from smtc_lab.study.tuning.rungs import MedianRule
from smtc_lab.study.tuning.suggest import Suggestions
from smtc_lab.study.tuning.trial_run import TrialRun, was_begun
from smtc_lab.study.watched_run import LOOK_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.study.tuning.ledger import TrialLedger
    from smtc_lab.study.tuning.trial_run import Spent
    from smtc_lab.study.watched_run import LaunchWatch

_ALIKE = 3
"""Failures in a row, with no trial that succeeded, after which a search is given up."""

_TAKEN = {"value", "points", "usd", "seconds", "steps"}


class TrialSearch:
    """Tunes the hyperparameters of one job.

    Args:
        question: What is searched.
        job: What each trial trains, but for its hyperparameters.
        launcher: Where trials run.
        ledger: Where it is written down.
        past: Rows of the ledger that are there already: it goes on from there.
        known: Trials of earlier searches, see ``Suggestions``.
        study: Name of the study.
        created_s: When the study was asked for, in seconds since the epoch.
        most_at_once: Trials at once, at most.
        watch: Asked whether to stop; told how many trials there are.
    """

    def __init__(  # noqa: PLR0913  what a search is made of
        self,
        question: TuningQuestion,
        *,
        job: TrainingJob,
        launcher: Launcher,
        ledger: TrialLedger,
        past: Sequence[LedgerRow],
        known: Sequence[tuple[dict[str, Any], float]] = (),
        study: str,
        created_s: float,
        most_at_once: int,
        watch: LaunchWatch,
    ) -> None:
        self.question, self._job, self._launcher = question, job, launcher
        self._ledger, self._watch, self._most_at_once = ledger, watch, most_at_once
        self.book = TrialBook(question, study)
        self._suggestions = Suggestions(question, known)
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self.purse = Purse(question.budget_usd, self.book)
        limit_s = question.max_runtime_in_seconds
        self._ends_s = math.inf if limit_s is None else created_s + limit_s
        for row in past:
            self.book.take(row)
            self._suggestions.tell(row)
        self._median = MedianRule.of(question)
        if self._median is not None:
            for trial in self.book.has_ended:
                folder = RunFolder(launcher.root / trial.run)
                values = ObjectiveValues(folder, question.objective_metric_name).read()
                self._median.ended(values[: trial.points])

    def run(self) -> str:
        """Search to the end; return why it ended before all trials were made, if it did.

        Raises:
            RunFailedError: It was stopped, or no trial can succeed; says why.
        """
        self._watch.launches = self.question.num_trials
        for trial in self.book.trials:
            if was_begun(RunFolder(self._launcher.root / trial.run)):
                self._note(Run.open(trial.run, root=self._launcher.root), trial.number)
        with ThreadPoolExecutor(self._most_at_once) as pool:
            going: dict[Future[None], int] = {}
            try:
                for trial in self.book.in_state(
                    "InProgress"
                ):  # a tuner that was killed left them
                    going[pool.submit(self._train, trial.number)] = trial.number
                while True:
                    self._fill(pool, going)
                    if not going:
                        self._end_waiting()
                        return self._why_end()
                    done, _ = wait(going, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    for future in done:
                        del going[future]
                        future.result()
                    self._refuse_to_go_on()
            except BaseException:
                self._stop.set()
                raise

    def _fill(self, pool: ThreadPoolExecutor, going: dict[Future[None], int]) -> None:
        """Begin as many trials as may run at once."""
        while len(going) < self._most_at_once:
            number = self._next(has_others=bool(going))
            if number is None:
                return
            going[pool.submit(self._train, number)] = number

    def _next(self, *, has_others: bool) -> int | None:
        """Return the trial that begins or goes on next; None: none does now."""
        if self._watch.is_stopped or self._why_end():
            return None
        rungs, trials = self.book.rungs, self.book.trials
        waiting = None if rungs is None else rungs.promotable()
        if waiting is None and len(trials) >= self.question.num_trials and not has_others:
            is_any_whole = any(trial.state == "Completed" for trial in trials)
            waiting = None if rungs is None or is_any_whole else rungs.furthest()
        if waiting is not None:
            self._write(LedgerRow(what="promoted", number=waiting))
            return waiting
        number = len(trials)
        if number >= self.question.num_trials:
            return None
        parameters, attributes = self._suggestions.suggest(number)
        self._write(
            LedgerRow(what="asked", number=number, parameters=parameters, attributes=attributes)
        )
        return number

    def _end_waiting(self) -> None:
        """Write down that nothing more comes of the trials that wait."""
        for trial in self.book.in_state("Paused"):
            reason = f"It was not among the best third at {trial.points} values."
            self._write(
                LedgerRow(
                    what="ended",
                    number=trial.number,
                    state="Stopped",
                    reason=reason,
                    **trial.model_dump(include=_TAKEN),
                )
            )

    def _why_end(self) -> str:
        """Return why no further trial begins; empty: one may."""
        if time.time() >= self._ends_s:
            return f"Its {self.question.max_runtime_in_seconds:g} s are over."
        return self.book.why_complete() or self.purse.why_too_dear()

    def _refuse_to_go_on(self) -> None:
        """End a search that was stopped, or in which no trial can succeed.

        Raises:
            RunFailedError: It is one; says why.
        """
        if self._watch.is_stopped:
            raise RunFailedError(STOPPED)
        ended = self.book.has_ended
        if not ended or any(trial.counts for trial in ended):
            return
        first, reasons = ended[0], {trial.reason for trial in ended}
        is_script = first.state == "Failed" and not first.steps
        if is_script or len(ended) >= min(_ALIKE, self.question.num_trials):
            common = first.reason if len(reasons) == 1 else ended[-1].reason
            raise RunFailedError(
                f"{len(ended)} of {len(ended)} trials gave no objective, so the search ends. "
                f"{common} All of them lie in the table of runs."
            )

    def _write(self, row: LedgerRow) -> None:
        with self._lock:
            self._ledger.write(row)
            self.book.take(row)
            if row.what == "ended":
                self._suggestions.tell(row)

    def _train(self, number: int) -> None:
        """Train a trial to its end, or to where it waits; write down what became of it."""
        trial, name = self.book.trials[number], self.book.trials[number].run
        job = self._job.model_copy(
            update={
                "job_name": name,
                "hyperparameters": {**self._job.hyperparameters, **trial.parameters},
            }
        )
        run = TrialRun(
            self._launcher,
            job,
            objective=self.question.objective_metric_name,
            study=self.book.study,
        )
        judge = Judge(self, run, trial)
        try:
            if run.begin():
                self._note(run.run, number)
            self.purse.note(number, trial.usd or 0.0)
            why = run.train(judge)
        except (LauncherError, SpecError) as error:
            self.purse.close(number)
            self._write(
                LedgerRow(what="ended", number=number, state="Failed", reason=str(error))
            )
            return
        if why == STOPPED:
            return  # it goes on when the study does
        row = self._ended(run, number, why, judge)
        with self._lock:
            self.purse.close(number)
            if self._median is not None and row.what == "ended":
                self._median.ended(judge.values)
            self._write(row)

    def _note(self, run: Run, number: int) -> None:
        """Have a run in the list of the study's launches."""
        if self._watch.started is not None:
            self._watch.started(run, f"trial {number}")

    def _ended(self, run: TrialRun, number: int, why: str | None, judge: Judge) -> LedgerRow:
        values, spent = judge.values, run.spent()
        last = values[-1] if values else None
        value = last if last is not None and math.isfinite(last) else None
        told = LedgerRow(
            what="ended",
            number=number,
            value=value,
            points=len(values),
            usd=spent.usd,
            seconds=spent.seconds,
            steps=spent.steps,
        )
        if why == AT_RUNG:
            return replace(told, what="paused")
        failure = "" if why is not None else run.failure()
        if failure:
            return replace(told, state="Failed", value=None, reason=failure)
        if value is None:
            return replace(told, state="Failed", reason=run.missing())
        if why is None or why == TO_ITS_END:
            return replace(told, state="Completed")
        return replace(told, state="Stopped", reason=why)

    def goes_on(self, number: int, values: list[float], spent: Spent) -> bool:
        """Take in that a trial came to a rung; return whether it goes on at once."""
        last = values[-1]
        came = LedgerRow(
            what="paused",
            number=number,
            value=last if math.isfinite(last) else None,
            points=len(values),
            usd=spent.usd,
            seconds=spent.seconds,
            steps=spent.steps,
        )
        with self._lock:
            self._write(came)
            rungs = self.book.rungs
            if rungs is None or rungs.promotable() != number or self._why_end():
                return False
            self._write(LedgerRow(what="promoted", number=number))
        return True

    def is_hopeless(self, value: float, points: int) -> bool:
        """Return whether a trial is not trained on, by the others' values."""
        with self._lock:
            return self._median is not None and self._median.is_worse(value, points)

    @property
    def is_stopped(self) -> bool:
        """Whether no trial is to go on."""
        return self._stop.is_set() or self._watch.is_stopped
