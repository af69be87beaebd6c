"""The Ray launcher: every instance of a job is a node of a Ray cluster."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.on_ray.engine import require_ray
from smtc_lab.launchers.on_ray.ray_plan import check, make_plan
from smtc_lab.launchers.supervision.begin import await_end, start_supervisor
from smtc_lab.launchers.supervision.supervised import SupervisedLauncher
from smtc_lab.store.state import current_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.launcher import Handle, LaunchPlan, Leftover
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder

DEFAULT_GRACE_S = 5.0
"""Time between TERM and KILL, in seconds."""

_ADDRESS_VARIABLE = "RAY_ADDRESS"
_LOOK_S = 0.02


class RayLauncher(SupervisedLauncher):
    """Runs every instance of a job on a node of a Ray cluster.

    Args:
        root: Folder of runs on this machine; None: the default one.
        catalog: Where instance types are looked up; None: the one that comes along.
        address: ``HOST:PORT`` of a cluster that this machine is a node of, ``auto``, or
            ``ray://HOST:PORT``; None: ``$RAY_ADDRESS``, and where that is not set, a cluster of
            this machine that is started for the run and ends with it.
    """

    name = "ray"
    end_limit_s = 60.0
    takes_instances = True

    def __init__(
        self,
        *,
        root: StrPath | None = None,
        catalog: Catalog | None = None,
        address: str | None = None,
    ) -> None:
        super().__init__(root=root, catalog=catalog)
        self._address = os.environ.get(_ADDRESS_VARIABLE, "") if address is None else address

    def check(self, job: TrainingJob) -> list[str]:
        """Return every reason why no cluster can run the job; empty: some can."""
        return check(job, self._catalog)

    def plan(self, job: TrainingJob) -> LaunchPlan:
        """Return what will be asked of the cluster. No cluster needs to be there.

        Raises:
            SpecError: No cluster can run the job; all reasons at once.
        """
        return make_plan(job, self._catalog, grace_s=DEFAULT_GRACE_S, address=self._address)

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        """Start a run; return when the cluster has given it its nodes.

        A second call with the same plan starts nothing. Where a cluster is started for the run,
        this does not wait for it.

        Args:
            plan: What ``plan`` returned.
            detach: Let the run go on when this process ends.

        Raises:
            LauncherError: Ray is not installed, or its cluster cannot be joined, or has no such
                nodes; nothing of the run is left.
        """
        require_ray()
        return super().start(plan, detach=detach)

    def sweep(self, *, stop: bool = False) -> list[Leftover]:
        """Return what is left on this machine of runs that are over; with ``stop``, end it.

        On the nodes nothing can be left: Ray ends the actors of a driver that is gone, and an
        instance ends with its actor.
        """
        root = None if self._sweeps_all else self._root
        return LocalLauncher(root=root, catalog=self._catalog).sweep(stop=stop)

    def _supervisor_environment(self, remote: Mapping[str, str]) -> dict[str, str]:
        """Return Ray's own settings, which are for its drivers: a token's place, say."""
        given = {name: text for name, text in os.environ.items() if name.startswith("RAY_")}
        return given if remote.get("address") else {}

    def _remote(self, plan: LaunchPlan) -> Mapping[str, str]:
        return {"address": str(plan.facts["ray_address"])}

    def _begin(self, folder: RunFolder, plan: LaunchPlan, *, detach: bool) -> None:
        """Start the supervisor, and wait until it has its nodes, or is told why it has not."""
        address = str(plan.facts["ray_address"])
        environment = self._supervisor_environment({"address": address})
        start_supervisor(folder, detach=detach, environment=environment)
        while address:
            state = current_state(folder)
            if "nodes" in state.facts or state.state == "Stopped":
                return
            if state.is_terminal:
                await_end(folder, self.end_limit_s)
                shutil.rmtree(folder.path, ignore_errors=True)
                raise LauncherError(state.reason)
            time.sleep(_LOOK_S)  # the supervisor's word is a file
