"""What views know of searches of hyperparameters: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.study.folder import StudyFolder
from smtc_lab.study.tuning.tuning_run import TUNING as NAME
from smtc_lab.study.tuning.tuning_run import TuningRun
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.tuning.text import sentence, trial_rows

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.text.set_ups import RowInfo


class TuningKind(StudyKind):
    """A search of hyperparameters: what was tried, what is best, what it cost."""

    opening = "lab.TuningRun.open({name!r})"

    def open(self, path: Path) -> TuningRun:
        """Return the search in a folder."""
        return TuningRun(StudyFolder(path))

    def sentence(self, follower: StudyFollower) -> str:
        """Return the best trial so far."""
        run = follower.run
        if not isinstance(run, TuningRun) or not run.found.trials:
            return super().sentence(follower)
        return sentence(run.found)

    def rows(self, follower: StudyFollower) -> tuple[RowInfo, ...]:
        """Return the best trials."""
        run = follower.run
        return trial_rows(run.found) if isinstance(run, TuningRun) else ()


TUNING = TuningKind(NAME)
