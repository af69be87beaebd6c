"""A search of hyperparameters in the hands of a person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.run import lives_on
from smtc_lab.metrics.tuning.found import TuningFound
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.store.state import replace_file
from smtc_lab.study.study_run import StudyRun
from smtc_lab.study.supervision import start_process
from smtc_lab.study.tuning.book import QUESTION, TrialBook, question_of
from smtc_lab.study.tuning.ledger import read_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import Progress

TUNING = "tuning"
"""Name of the kind of study."""

EXTENDED = {
    "budget_usd",
    "completion_criteria_config",
    "max_jobs",
    "max_runtime_in_seconds",
}
"""What may be asked otherwise while a search goes on: what is suggested stays the same."""


class TuningRun(StudyRun):
    """A search of hyperparameters that goes on by itself, or has ended."""

    @property
    def found(self) -> TuningFound:
        """What it has found, so far or at its end.

        Raises:
            StoreError: A file of it is damaged.
        """
        written = self.result_json if self.request.kind == TUNING else None
        if written is not None:
            return TuningFound.model_validate_json(written)
        return book_of(self).found(self.request)

    def wait(
        self,
        timeout_s: float | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> TuningFound:
        """Wait for the end and return what was found. An interrupt (Ctrl-C) stops everything.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
            progress: Called about twice a second meanwhile.

        Raises:
            RunFailedError: No trial could succeed, or it was stopped; says why.
            LauncherError: It still runs after ``timeout_s``.
        """
        self.await_end(timeout_s, progress=progress)
        return self.found

    def resume(
        self,
        *,
        detach: bool | None = None,
        **changes: Any,  # noqa: ANN401  TuningQuestion checks them
    ) -> Self:
        """Go on with a search that was stopped, or whose process was killed; return at once.

        Trials that were begun go on, and what is suggested next is what would have been.

        Args:
            detach: Let it go on when this process ends; None: in a notebook.
            **changes: How long it goes on from now on: ``max_jobs``, ``budget_usd``,
                ``max_runtime_in_seconds``, ``completion_criteria_config``. One that has
                completed goes on with them alone.

        Raises:
            RunFailedError: It goes on already, or has nothing left to do.
            SpecError: A change is none of these, or cannot be.
            LauncherError: It could not be started.
        """
        if self.status in {"Pending", "InProgress", "Stopping"} or (
            self.status == "Completed" and not changes
        ):
            raise RunFailedError(
                f"Tuning {self.name!r} is {self.status}, so there is nothing to go on with. "
                "One that has completed takes more trials: resume(max_jobs=…)."
            )
        if changes:
            self._extend(changes)
        self.folder.stop_file.unlink(missing_ok=True)
        self.folder.state_file.unlink(missing_ok=True)
        start_process(self.folder, detach=lives_on(detach))
        return self

    def _extend(self, changes: Mapping[str, Any]) -> None:
        """Ask for more, or for less, from now on."""
        if others := sorted(changes.keys() - EXTENDED):
            raise SpecError(
                f"{others[0]} of a search that has begun cannot be changed. These can: "
                f"{', '.join(sorted(EXTENDED))}."
            )
        request, asked = self.request, question_of(self.request)
        told = {**asked.model_dump(), **changes}
        question = TuningQuestion.model_validate(told)
        options = {**request.options, QUESTION: question.model_dump(mode="json")}
        if problems := list(money_problems(question, request.jobs[0], request.catalog)):
            raise SpecError(problems)
        self.request = replace(request, options=options)
        replace_file(self.folder.request_file, self.request.to_json())


def money_problems(
    question: TuningQuestion, job: TrainingJob, catalog: Catalog
) -> Iterator[str]:
    """Yield why a budget cannot be kept."""
    if question.budget_usd is not None and catalog.usd_per_hour(job.cluster) is None:
        yield (
            f"budget_usd={question.budget_usd:g} cannot be kept: the price of "
            f"{job.cluster.label} is unknown. Give it a price, or leave the budget out."
        )


def book_of(run: StudyRun) -> TrialBook:
    """Return where a search stands, by its ledger.

    Raises:
        StoreError: It is damaged.
    """
    book = TrialBook(question_of(run.request), run.name)
    for row in read_ledger(run.folder.path):
        book.take(row)
    return book
