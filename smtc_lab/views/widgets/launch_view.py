"""A launch, shown with its cost before anything is started."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets  # type: ignore[import-untyped]

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.launchers.confirmation import confirmation_of, require_confirmation
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import Run, launcher_named, lives_on
from smtc_lab.views.kept import drawn_elsewhere
from smtc_lab.views.launch.display import display_bundle, takes_clicks
from smtc_lab.views.launch.plan_display import to_html, to_text
from smtc_lab.views.live_display import display_live
from smtc_lab.views.text.format import plain
from smtc_lab.views.text.rendering import render
from smtc_lab.views.widgets.base import built_front_end
from smtc_lab.views.widgets.launch_controls import LaunchControls

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.launchers.confirmation import Confirmation
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.spec.job import TrainingJob

_SAVED_EARLY = (
    "This was saved before the run had ended, if one was started at all. "
    "lab.Run.open({name!r}) shows where it stands."
)


class LaunchView(ipywidgets.VBox):  # type: ignore[misc]  # it has no types
    """What a launch asks for, what it costs at worst, and a button that starts exactly that.

    ::

        view = lab.LaunchView(job, on="sagemaker", max_usd=20)
        view      # look, and press Start
        view.run  # what was started

    Args:
        job: What to run.
        on: Name of the launcher.
        root: Folder of runs; None: the default one.
        detach: Let the run go on when this process ends; None: in a notebook it does.
        **options: What that launcher takes, but for ``confirm``: that is the button.

    Raises:
        LauncherError: There is no such launcher, or an option that it does not take.
        ViewError: The front end was not built.
    """

    def __init__(
        self,
        job: TrainingJob,
        *,
        on: str = THIS_MACHINE,
        root: Path | None = None,
        detach: bool | None = None,
        **options: Any,  # noqa: ANN401  each launcher has its own
    ) -> None:
        if "confirm" in options:
            raise LauncherError(
                f"A LaunchView takes no option confirm (got {options['confirm']!r}): its Start "
                "button is the confirmation. Drop it."
            )
        built_front_end("widget.js")  # a run that was started must be seen
        self._on, self._root, self._detach, self._options = on, root, detach, options
        self.problems: list[str] = []
        """Every reason why the job cannot be started as it is."""
        self.plan = self._planned(job)
        """What is started; None: the launcher cannot run the job."""
        self.controls: LaunchControls | None = None
        """The Start button, and what follows a click; None: there is nothing to start."""
        if self.plan is not None and not self.problems:
            self.controls = LaunchControls(self.plan, self._start)
        # as wide as there is room: else its table would widen the widget, not scroll
        page = f'<div style="contain: inline-size">{self._bundle()["text/html"]}</div>'
        shown = ipywidgets.HTML(page)
        super().__init__([shown, self.controls] if self.controls else [shown])

    @property
    def run(self) -> Run | None:
        """The run that was started; None: none yet."""
        return None if self.controls is None else self.controls.run

    def _planned(self, job: TrainingJob) -> LaunchPlan | None:
        launcher = launcher_named(self._on, root=self._root, **self._options)
        try:
            plan = launcher.plan(job)
        except SpecError as error:
            self.problems = error.problems
            return None
        try:
            require_confirmation(plan, **_confirmation(plan))
        except LauncherError as error:  # it may exceed max_usd
            self.problems = [str(error)]
        return plan

    def _start(self, plan: LaunchPlan) -> Run:
        options = {**self._options, **_confirmation(plan)}
        launcher = launcher_named(self._on, root=self._root, **options)
        return Run(launcher, launcher.start(plan, detach=lives_on(self._detach)))

    def _bundle(self) -> dict[str, str]:
        """Return what is known before a click, for the page and for what is kept of it."""
        htmls, texts = [], []
        if self.plan is not None:
            htmls.append(to_html(self.plan))
            texts.append(to_text(self.plan))
        if self.problems:
            title = f"Cannot be launched on {self._on}:"
            refused = render("display_refused.html.j2", title=title, problems=self.problems)
            htmls.append(refused)
            texts += [title, *(f"  {plain(problem)}" for problem in self.problems)]
        return {"text/html": "\n".join(htmls), "text/plain": "\n".join(texts)}

    def _ipython_display_(self) -> None:
        # two outputs: the plan stays, and the run's result takes the place of the button
        display_bundle(self._bundle())
        if self.controls is not None and takes_clicks():
            display_live(_LaunchShow(self.controls))


def _confirmation(plan: LaunchPlan) -> dict[str, Confirmation]:
    """Return what a click says to the cost that is shown; nothing where nothing is ordered."""
    return {} if plan.order is None else {"confirm": confirmation_of(plan.order)}


class _LaunchShow:
    """What a notebook keeps of a launch view: the run's result, and never a dead button."""

    def __init__(self, controls: LaunchControls) -> None:
        self._controls = controls
        self.key = str(controls.model_id)
        self.kind, self.name = "run", str(controls.plan.job.job_name)

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
        return drawn_elsewhere(self._controls.run.folder.path)
