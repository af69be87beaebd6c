"""A plan to look around in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.planner.run_prediction import compared_runs, predict_run
from smtc_lab.store.run_folder import find_run
from smtc_lab.views.plan.describer import describe_plan, explained, shown_candidates
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run
    from smtc_lab.planner.plan import Plan
    from smtc_lab.planner.planned_cluster import PlannedCluster
    from smtc_lab.planner.run_prediction import RunPrediction


class PlanView(View):
    """Time against cost of the clusters of a plan; each can be chosen, explained and launched.

    ::

        view = lab.PlanView(plan)
        view.planned.job()  # of the cluster that was chosen in the view

    Args:
        plan: The plan. Runs that were compared with it before are shown, too.
        **layout: ``layout`` and other traits that every widget has.

    Raises:
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "planner"

    chosen = traitlets.Int(-1).tag(sync=True)
    """Place of the cluster that is shown in detail; -1: the one that the plan recommends."""

    plan = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``PlanInfo`` as JSON."""

    explained = traitlets.Dict(read_only=True).tag(sync=True)
    """What is said of the cluster that was chosen: its ``place``, ``text`` and ``code``."""

    def __init__(
        self,
        plan: Plan,
        **layout: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        self._of = plan
        self._shown = shown_candidates(plan)
        self._runs = {run.job_name: run for run in compared_runs(plan.calibration)}
        self._tell()
        super().__init__(**layout)

    @property
    def planned(self) -> PlannedCluster:
        """The cluster that is shown in detail."""
        if 0 <= self.chosen < len(self._shown):
            return self._of.planned(self._shown[self.chosen])
        return self._of.best

    def compare_with(self, run: Run | str) -> RunPrediction:
        """Put a run beside what is predicted of it, with the prediction's error.

        Call it again while the run grows. The error is kept in the run's folder.

        Args:
            run: A run of the plan's workload on this machine, or its name.

        Raises:
            PlannerError: The run is of another workload, or of another kind of device.
            StoreError: There is no such run, or it cannot be read.
        """
        folder = find_run(run) if isinstance(run, str) else run.folder
        made = predict_run(self._of.calibration, folder)
        self._runs[made.job_name] = made
        self._tell()
        return made

    def _tell(self) -> None:
        info = describe_plan(self._of, tuple(self._runs.values()))
        self.set_trait("plan", info.as_dict())

    @traitlets.observe("chosen")
    def _explain(self, _change: object) -> None:
        if 0 <= self.chosen < len(self._shown):
            text, code = explained(self._of, self._shown[self.chosen])
            said = {"place": self.chosen, "text": text, "code": code}
            self.set_trait("explained", said)
