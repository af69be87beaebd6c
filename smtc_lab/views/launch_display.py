"""What a notebook keeps of a launch view: the run's result, and never a dead button."""

from __future__ import annotations

import importlib
from html import escape
from typing import TYPE_CHECKING, Any

from smtc_lab.views.bundle import drawn_elsewhere

if TYPE_CHECKING:
    from smtc_lab.views.widgets.launch_controls import LaunchControls

_SAVED_EARLY = (
    "This was saved before the run had ended, if one was started at all. "
    "lab.Run.open({name!r}) shows where it stands."
)


class LaunchShow:
    """The controls of a launch view, for ``smtc_lab.views.live_display``."""

    def __init__(self, controls: LaunchControls) -> None:
        self._controls = controls
        self.key = str(controls.model_id)

    def has_ended(self) -> bool:
        """Return whether a run was started and has ended."""
        return self._controls.ended

    def monitor(self) -> LaunchControls:
        """Return the widget that starts the run, and shows it live."""
        return self._controls

    def first(self) -> dict[str, str]:
        """Return what stands beside the widget: true of any moment until the run's end."""
        text = _SAVED_EARLY.format(name=self._controls.plan.job.job_name)
        return {"text/plain": text, "text/html": f"<div>{escape(text)}</div>"}

    def last(self) -> dict[str, Any]:
        """Return the mime bundle of the run.

        Raises:
            ViewError: It could not be made.
        """
        assert self._controls.run is not None  # noqa: S101  it has ended
        return drawn_elsewhere(self._controls.run.folder)


def display_bundle(bundle: dict[str, str]) -> None:
    """Show a mime bundle in the cell that runs; in a terminal, print its text."""
    importlib.import_module("IPython.display").display(bundle, raw=True)


def takes_clicks() -> bool:
    """Return whether somebody may click: papermill and nbconvert run cells for nobody.

    They say that they take no input, and would keep a button for ever.
    """
    shell = importlib.import_module("IPython").get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    return bool(kernel.get_parent().get("content", {}).get("allow_stdin"))
