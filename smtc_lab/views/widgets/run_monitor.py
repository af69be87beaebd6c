"""A run, watched live."""

from __future__ import annotations

from typing import ClassVar

import traitlets

from smtc_lab.launchers.run import Run
from smtc_lab.views.widgets.watching import Monitor


class RunMonitor(Monitor):
    """State, charts, log and Stop button of a run: growing or ended, of any process.

    Args:
        run: The run, or its name.

    Raises:
        StoreError: There is no such run, or its folder cannot be read.
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "run-monitor"

    run: Run
    """The run."""

    log = traitlets.Dict(read_only=True).tag(sync=True)
    """The last lines that were printed: ``lines``, each a host and a text, and ``first``, the
    number of the first of them."""

    def __init__(self, run: Run | str) -> None:
        super().__init__(Run.open(run) if isinstance(run, str) else run)
