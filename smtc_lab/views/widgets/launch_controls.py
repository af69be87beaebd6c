"""The Start button of a launch; its run takes the button's place."""

from __future__ import annotations

import threading
from html import escape
from typing import TYPE_CHECKING, Literal

import ipywidgets  # type: ignore[import-untyped]
import traitlets

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.widgets.run_monitor import RunMonitor

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.run import Run

ACCEPTANCE = "I accept an unknown price"
"""What has to be ticked where nobody knows what a launch costs. Short: a phone cuts it off."""


class LaunchControls(ipywidgets.VBox):  # type: ignore[misc]  # it has no types
    """A button that starts a run once, however often it is clicked, and says what that costs.

    Args:
        plan: What is started.
        start: Starts it. Called in a thread, after a click.
    """

    ended = traitlets.Bool(read_only=True)
    """Whether the run that was started here has ended. Turns true once, in a thread."""

    def __init__(self, plan: LaunchPlan, start: Callable[[LaunchPlan], Run]) -> None:
        self._start = start
        self.plan = plan
        """What is started."""
        self.run: Run | None = None
        """The run that was started; None: none yet."""
        self._what = f"{plan.job.job_name} on {plan.launcher}"
        self._is_starting = False
        self._lock = threading.Lock()
        is_unknown = plan.order is not None and plan.order.worst_case_usd is None
        self._accept = ipywidgets.Checkbox(
            value=not is_unknown, description=ACCEPTANCE, indent=False, layout={"width": "auto"}
        )
        self._button = ipywidgets.Button(
            description=start_label(plan), disabled=is_unknown, layout={"width": "max-content"}
        )
        self._message = ipywidgets.HTML()
        self._accept.observe(self._enable, "value")
        self._button.on_click(self._on_click)
        asked = [self._accept] if is_unknown else []
        # the message is first, so that it stays as it is when what follows it goes
        super().__init__([self._message, *asked, self._button])

    def _on_click(self, _button: object) -> None:
        with self._lock:
            if self._is_starting or not self._accept.value:  # also of a page that is behind
                return
            self._is_starting = True
        self._enable()
        self._say("status", f"Starting {self._what} …")
        # uploading takes a while, and the kernel must go on
        threading.Thread(target=self._start_and_tell, name="smtc-launch", daemon=True).start()

    def _start_and_tell(self) -> None:
        try:
            self.run = self._start(self.plan)
        except (SmtcLabError, OSError) as error:
            self._say("alert", f"Not started. {error}")
            self._is_starting = False
            self._enable()
            return
        self._say("status", f"Started {self._what}.")
        monitor = RunMonitor(self.run)
        monitor.observe(self._on_ended, "ended")
        self.children = [self._message, monitor]
        if monitor.ended:  # before it was observed
            self._on_ended()

    def _on_ended(self, _change: object = None) -> None:
        self.set_trait("ended", True)

    def _enable(self, _change: object = None) -> None:
        self._button.disabled = self._is_starting or not self._accept.value

    def _say(self, role: Literal["status", "alert"], text: str) -> None:
        """Show a message, which a screen reader reads out."""
        style = "line-height: 1.5; overflow-wrap: anywhere; white-space: pre-line"
        self._message.value = (
            f'<div role="{role}" class="mathjax_ignore tex2jax_ignore" style="{style}">'
            f"{escape(text)}</div>"
        )


def start_label(plan: LaunchPlan) -> str:
    """Return what the Start button says: what a click costs."""
    if plan.order is None:
        return "Start"
    usd = plan.order.worst_case_usd
    return "Start: price unknown" if usd is None else f"Start: at most ${usd:,.2f}"
