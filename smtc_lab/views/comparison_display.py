"""How a comparison that goes on by itself shows itself in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.views.comparison_bundle import drawn_elsewhere, info_html, info_text, snapshot
from smtc_lab.views.live_display import display_live, finish

if TYPE_CHECKING:
    from smtc_lab.study.comparison_run import ComparisonRun
    from smtc_lab.views.widgets.base import View

_SAVED_LIVE = (
    "This was saved while the comparison went on. lab.ComparisonRun.open({name!r}) shows where "
    "it stands."
)


class ComparisonShow:
    """A comparison, for ``smtc_lab.views.live_display``."""

    def __init__(self, run: ComparisonRun) -> None:
        self._run = run
        self.key = key_of(run)

    def has_ended(self) -> bool:
        """Return whether the comparison has ended."""
        return self._run.state.is_terminal

    def monitor(self) -> View:
        """Return the widget that shows it live."""
        # anywidget takes a tenth of a second to import
        from smtc_lab.views.widgets.comparison_monitor import (  # noqa: PLC0415
            ComparisonMonitor,
        )

        return ComparisonMonitor(self._run)

    def text(self) -> str:
        """Return text of the comparison as it is now."""
        return info_text(snapshot(self._run)[0])

    def first(self) -> dict[str, str]:
        """Return text and HTML of the comparison as it is now."""
        info = snapshot(self._run)[0]
        note = _SAVED_LIVE.format(name=self._run.name)
        return {
            "text/plain": f"{info_text(info)}\n{note}",
            "text/html": f"{info_html(info)}\n<div>{note}</div>",
        }

    def last(self) -> dict[str, Any]:
        """Return the mime bundle of the comparison.

        Raises:
            ViewError: It could not be made.
        """
        return drawn_elsewhere(self._run.folder)


def html(run: ComparisonRun) -> str:
    """Return a comparison as it is now as HTML."""
    return info_html(snapshot(run)[0])


def show(run: ComparisonRun) -> None:
    """Show a comparison in the cell that runs."""
    display_live(ComparisonShow(run))


def ended(run: ComparisonRun) -> None:
    """Put the result of a comparison in the place of its live views."""
    finish(key_of(run))


def key_of(run: ComparisonRun) -> str:
    """Return what tells this comparison from all others."""
    return str(run.folder.path)
