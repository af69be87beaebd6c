"""What views know of any study, and what a new kind of study says beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.study.folder import StudyFolder
from smtc_lab.study.study_run import StudyRun
from smtc_lab.views.kinds import ViewKind
from smtc_lab.views.study.own import StudyOwn
from smtc_lab.views.study.snapshot import COMPARISON_MIME, StudySnapshot, study_snapshot
from smtc_lab.views.study.watch import StudyWatch
from smtc_lab.views.study.words import study_html, study_text

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.follow.stream import Send
    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.live.watch import Audience


class StudyKind(StudyOwn, ViewKind[StudySnapshot]):
    """A study: a title, a state, a table of its set-ups, the charts of its launches.

    A kind of its own overrides what it knows better; ``figure``, too.
    """

    mime = COMPARISON_MIME
    monitor = "smtc_lab.views.widgets.comparison_monitor:ComparisonMonitor"
    opening = "lab.ComparisonMonitor({name!r})"

    def open(self, path: Path) -> StudyRun:
        """Return the study in a folder."""
        return StudyRun(StudyFolder(path))

    def watch(self, path: Path, send: Send | None, audience: Audience) -> StudyWatch:
        """Return what watches it."""
        return StudyWatch(self, self.open(path), send, audience)

    def see(self, path: Path) -> StudySnapshot:
        """Return it as it is now."""
        return study_snapshot(self, self.open(path))

    def text(self, seen: StudySnapshot) -> str:
        """Return it for a terminal and an e-mail."""
        return study_text(seen.info)

    def html(self, seen: StudySnapshot, picture: Picture | None = None) -> str:
        """Return it as HTML that needs no script, and that sanitizers leave whole."""
        return study_html(seen.info, picture=picture)
