"""Follows a search of hyperparameters by its ledger, of which each row is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.metrics.tuning.found import TuningFound
from smtc_lab.metrics.tuning.pareto import PARETO, TuningPareto
from smtc_lab.study.tuning.book import TrialBook, question_of
from smtc_lab.study.tuning.ledger import LEDGER, read_ledger
from smtc_lab.views.study.follower import StudyFollower
from smtc_lab.views.tuning.curves import TrialCurves

if TYPE_CHECKING:
    from smtc_lab.follow.stream import Stream
    from smtc_lab.study.study_run import StudyRun


class TuningFollower(StudyFollower):
    """The trials of a search, and what it has found so far."""

    def __init__(self, run: StudyRun, stream: Stream) -> None:
        super().__init__(run, stream)
        self.question = question_of(run.request)
        """What is searched."""
        self.book = TrialBook(self.question, run.name)
        """Its trials."""
        self.curves = TrialCurves(
            run.request.root, run.name, self.question.objective_metric_name
        )
        """Their objectives while they are trained."""
        self._rows = 0
        self._marks: list[tuple[int, int] | None] = []
        self._found: TuningFound | None = None
        self._pareto: tuple[object, TuningPareto | None] = (None, None)

    def look(self) -> bool:
        """Take in what is new; False: there is nothing to tell.

        Raises:
            StoreError: A file is damaged.
        """
        was = self.state
        has_news = super().look()
        if was != self.state:
            self._found = None
        path = self.run.folder.path
        marks = [self._mark(name) for name in (LEDGER, f"{LEDGER}-wal", PARETO)]
        if marks != self._marks:
            rows = read_ledger(path, after=self._rows)
            for row in rows:
                self.book.take(row)
            has_news = has_news or bool(rows) or marks[-1:] != self._marks[-1:]
            self._marks, self._rows, self._found = marks, self._rows + len(rows), None
        return has_news or self.curves.are_due(self.book.trials)

    @property
    def found(self) -> TuningFound:
        """What it has found so far.

        Raises:
            StoreError: Its result is damaged.
        """
        if self._found is None:
            written = self.run.result_json
            self._found = (
                self.book.found(self.run.request)
                if written is None
                else TuningFound.model_validate_json(written)
            )
        return self._found

    @property
    def pareto(self) -> TuningPareto | None:
        """Its trials on clusters, as the planner predicted them; None: nobody asked it."""
        mark = self._mark(PARETO)
        if mark != self._pareto[0]:
            self._pareto = mark, None if mark is None else self._read_pareto()
        return self._pareto[1]

    def _read_pareto(self) -> TuningPareto | None:
        path = self.run.folder.path
        try:
            written = read_beneath(path, path / PARETO, most_bytes=MIB)
            return TuningPareto.model_validate_json(written)
        except (OSError, ValueError, SmtcLabError):
            return None  # a search is shown without it

    def _mark(self, name: str) -> tuple[int, int] | None:
        """Return what is another one when a file of the study is."""
        try:
            found = (self.run.folder.path / name).lstat()
        except OSError:
            return None
        # who reads the ledger makes an empty file beside it, and takes it away
        return (found.st_mtime_ns, found.st_size) if found.st_size else None
