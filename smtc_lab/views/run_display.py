"""How a run shows itself in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.views.bundle import drawn_elsewhere, run_end_html
from smtc_lab.views.live_display import display_live, finish
from smtc_lab.views.run_snapshot import first_look
from smtc_lab.views.run_words import run_text

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run
    from smtc_lab.views.widgets.base import View

_SAVED_LIVE = (
    "This was saved while the run went on. lab.Run.open({name!r}) shows where it stands."
)


class RunShow:
    """A run, for ``smtc_lab.views.live_display``."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.key = key_of(run)

    def has_ended(self) -> bool:
        """Return whether the run has ended."""
        return self._run.state.is_terminal

    def monitor(self) -> View:
        """Return the widget that shows it live."""
        # anywidget takes a tenth of a second to import
        from smtc_lab.views.widgets.run_monitor import RunMonitor  # noqa: PLC0415

        return RunMonitor(self._run)

    def first(self) -> dict[str, str]:
        """Return text and HTML of the run as it is now."""
        snapshot = first_look(self._run.folder)
        note = _SAVED_LIVE.format(name=self._run.job_name)
        return {
            "text/plain": run_text(snapshot),
            "text/html": f"{run_end_html(snapshot)}\n<div>{note}</div>",
        }

    def last(self) -> dict[str, Any]:
        """Return the mime bundle of the run.

        Raises:
            ViewError: It could not be made.
        """
        return drawn_elsewhere(self._run.folder)


def show(run: Run) -> None:
    """Show a run in the cell that runs."""
    display_live(RunShow(run))


def ended(run: Run) -> None:
    """Put the result of a run in the place of its live views."""
    finish(key_of(run))


def key_of(run: Run) -> str:
    """Return what tells this run from all others."""
    return str(run.folder.path)
