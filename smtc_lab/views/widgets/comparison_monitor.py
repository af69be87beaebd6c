"""A comparison, watched live."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import traitlets

from smtc_lab.views.kinds import open_study
from smtc_lab.views.widgets.watching import Monitor

if TYPE_CHECKING:
    from smtc_lab.study.study_run import StudyRun


class ComparisonMonitor(Monitor):
    """Verdict, progress, charts and Stop button of a comparison: growing or ended.

    It shows any other study, too.

    Args:
        run: The comparison, or its name.

    Raises:
        StoreError: There is no such comparison, or its folder cannot be read.
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "comparison-monitor"

    run: StudyRun
    """The comparison."""

    result = traitlets.Unicode(read_only=True).tag(sync=True)
    """The Comparison of all complete rounds as JSON text, at the end the final one; empty: no
    round is complete."""

    def __init__(self, run: StudyRun | str) -> None:
        super().__init__(open_study(run) if isinstance(run, str) else run)
