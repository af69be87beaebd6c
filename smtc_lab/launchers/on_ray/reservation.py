"""The nodes that a run has reserved on a Ray cluster, and waits for when it has lost some."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_ray.nodes import Bundle, bundles, read_nodes

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from smtc_lab.instance.plan import InstancePlan

_PLACE_LIMIT_S = 60.0
"""How long nodes that are there may be busy with something else before a run gives up."""

_LOOK_S = 0.1
_LOOK_FOR_NODES_S = 0.5


class Reservation:
    """The placement group of a run. One for all of its attempts.

    Args:
        job_name: Name of the job.
    """

    def __init__(self, job_name: str) -> None:
        self._job_name = job_name
        self._ready: Any = None
        self._nodes: frozenset[str] = frozenset()
        self.group: Any = None
        """Ray's placement group; None: nothing is asked for."""
        self.wanted: list[Bundle] = []
        """What is asked for each instance, or was for the last attempt."""

    def make(
        self,
        ray: Any,  # noqa: ANN401  a module
        instances: Sequence[InstancePlan],
        *,
        address: str,
        ending: threading.Event,
        is_patient: bool,
    ) -> None:
        """Reserve a node for each instance.

        Args:
            ray: The package.
            instances: The instances of the job.
            address: How to call the cluster in a message.
            ending: Set when the run is to end.
            is_patient: Whether to wait for nodes that are not there. What the last attempt had
                stays asked for meanwhile, so that a cluster that grows by itself sees it.

        Raises:
            LauncherError: The cluster has no such nodes, does not give them, or the run is to
                end; ``remove`` all the same.
        """
        begun_s = time.monotonic()
        while not self._is_given(ray, instances, address, is_patient=is_patient):
            if ending.wait(0.0 if self._ready is not None else _LOOK_S):
                raise LauncherError("The run was ended before its instances had started.")
            if not is_patient and time.monotonic() >= begun_s + _PLACE_LIMIT_S:
                raise LauncherError(_too_long(ray))
        table = ray.util.placement_group_table(self.group)
        self._nodes = frozenset(table["bundles_to_node_id"].values())

    def lost_nodes(self, ray: Any) -> list[str]:  # noqa: ANN401  a module
        """Return the addresses of reserved nodes that are gone."""
        return [
            str(node["NodeManagerAddress"])
            for node in ray.nodes()
            if node["NodeID"] in self._nodes and not node["Alive"]
        ]

    def remove(self, ray: Any) -> None:  # noqa: ANN401  a module
        """Give the nodes back, or stop asking for them. Safe to call again."""
        group, self.group, self._ready = self.group, None, None
        self._nodes = frozenset()
        if group is not None:
            ray.util.remove_placement_group(group)

    def _is_given(
        self,
        ray: Any,  # noqa: ANN401  a module
        instances: Sequence[InstancePlan],
        address: str,
        *,
        is_patient: bool,
    ) -> bool:
        try:
            wanted = bundles(instances, read_nodes(ray.nodes()), address=address)
        except LauncherError:
            if not is_patient:
                raise
            wanted = self.wanted
        if wanted and (self.group is None or wanted != self.wanted):
            self.remove(ray)
            self._ask(ray, wanted)
        if self._ready is None:
            return False
        given, _ = ray.wait([self._ready], timeout=_LOOK_FOR_NODES_S if is_patient else _LOOK_S)
        return bool(given)

    def _ask(self, ray: Any, wanted: list[Bundle]) -> None:  # noqa: ANN401  a module
        labels = [dict(bundle.labels) for bundle in wanted]
        # Ray before 2.49 has no such argument
        selector = {"bundle_label_selector": labels} if any(labels) else {}
        self.wanted = wanted
        self.group = ray.util.placement_group(
            [bundle.request() for bundle in wanted],
            strategy="STRICT_SPREAD",
            name=self._job_name,
            **selector,
        )
        self._ready = self.group.ready()


def _too_long(ray: Any) -> str:  # noqa: ANN401  a module
    free = ray.available_resources().get("CPU", 0)
    total = ray.cluster_resources().get("CPU", 0)
    return (
        f"The cluster has the nodes that the job needs, but did not give them within "
        f"{_PLACE_LIMIT_S:g} s: {free:g} of its {total:g} CPUs are free, and an instance takes "
        "a whole node. Wait for the others, or ask for fewer instances."
    )
