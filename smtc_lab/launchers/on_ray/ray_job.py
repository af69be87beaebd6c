"""One run's part of a Ray cluster: its nodes, its actors, and the links to them."""

from __future__ import annotations

import importlib
import os
import time
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import InstanceLostError, LauncherError
from smtc_lab.instance.opt_ml import listing
from smtc_lab.instance.variables import ATTEMPT_VARIABLE
from smtc_lab.launchers.on_ray.engine import join_cluster
from smtc_lab.launchers.on_ray.host_actor import HostActor
from smtc_lab.launchers.on_ray.instance_link import InstanceLink
from smtc_lab.launchers.on_ray.local_cluster import ClusterNode, LocalCluster
from smtc_lab.launchers.on_ray.mirror import PIECE_BYTES
from smtc_lab.launchers.on_ray.nodes import GROUP, TYPE, read_nodes
from smtc_lab.launchers.on_ray.placed import RayNode, agent_text, placed, read_plan
from smtc_lab.launchers.on_ray.source import pack
from smtc_lab.launchers.plan_file import plan_text
from smtc_lab.machine.cores import available_cores
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.on_ray.mirror import Told
    from smtc_lab.launchers.on_ray.reservation import Reservation
    from smtc_lab.store.run_folder import RunFolder

_START_LIMIT_S = 120.0
"""How long the start of a worker on each node may take."""

_CLOSE_LIMIT_S = 5.0
_LOOK_S = 0.1
_LOOK_FOR_NODES_S = 1.0
_ACTOR_THREADS = 4


class RayJob:
    """Brings the instances of one attempt up on a cluster, and ends them.

    Args:
        folder: The run's folder on this machine.
        reservation: The run's nodes.
        told: Called from any thread when something has become known of an instance.
        ending: Set when the run is to end, also while it is being brought up.
    """

    def __init__(
        self,
        folder: RunFolder,
        reservation: Reservation,
        *,
        told: Callable[[], None],
        ending: threading.Event,
    ) -> None:
        self._folder = folder
        self._reservation = reservation
        self._told = told
        self._ending = ending
        self._cluster: LocalCluster | None = None
        self._ray: Any = None
        self._address = ""
        self._actors: list[Any] = []
        self.links: dict[str, InstanceLink] = {}
        """The instances that have been started, by host."""

    def reserve(self, *, is_patient: bool) -> None:
        """Join the cluster and reserve a node for each instance.

        Args:
            is_patient: Whether to wait for nodes that are not there.

        Raises:
            LauncherError: That cannot be, or the run is to end; ``release`` all the same.
        """
        plan = read_plan(self._folder)
        self._address = str(plan.facts["ray_address"]) or self._start_cluster(plan)
        self._ray = join_cluster(self._address)
        self._reservation.make(
            self._ray,
            plan.instances,
            address=self._address,
            ending=self._ending,
            is_patient=is_patient,
        )

    def bring_up(self) -> dict[str, object]:
        """Start every instance; return what is now known of how they are carried out.

        Raises:
            InstanceLostError: A node is gone; ``release`` all the same.
            LauncherError: That cannot be, or the run is to end; ``release`` all the same.
        """
        if self._ray is None:
            self.reserve(is_patient=False)
        plan = read_plan(self._folder)
        ray, nodes = self._ray, read_nodes(self._ray.nodes())
        self._make_actors(plan)
        source = ray.put(pack(plan.job.entry_point))
        asked = [actor.prepare.remote(source) for actor in self._actors]
        places = [RayNode(**values) for values in self._all(asked, _START_LIMIT_S)]
        plan = placed(
            plan, places, cpus_of_node={node.node_id: node.num_cpus for node in nodes}
        )
        replace_file(self._folder.plan_file, plan_text(plan))
        self._start(plan, places)
        return {
            "ray": {"address": self._address, "version": ray.__version__},
            "nodes": {
                instance.host: {
                    "address": place.address,
                    "num_cpus": instance.num_cpus,
                    "num_gpus": place.num_gpus,
                }
                for instance, place in zip(plan.instances, places, strict=True)
            },
        }

    def release(self, limit_s: float) -> None:
        """End every instance, bring what it saved, and give the nodes back.

        Args:
            limit_s: How long an instance may take to end, and then to hand over each piece of
                what it saved, before its actor is killed.
        """
        try:
            self._release(limit_s)
        except Exception:  # noqa: BLE001, S110  a cluster that is gone must not hide how the run ended
            pass
        finally:
            if self._cluster is not None:
                self._cluster.end()

    def _release(self, limit_s: float) -> None:
        for link in self.links.values():
            link.end()
        for link in self.links.values():
            link.wait(limit_s)
        for link in self.links.values():
            link.close()
        if self._actors and not self.links:  # prepared, and never started
            asked = [actor.close.remote(is_fetched=True) for actor in self._actors]
            self._ray.wait(asked, num_returns=len(asked), timeout=_CLOSE_LIMIT_S)
        for actor in self._actors:
            self._ray.kill(actor)
        if self._ray is not None:
            self._reservation.remove(self._ray)
            self._ray.shutdown()

    def _start_cluster(self, plan: LaunchPlan) -> str:
        """Start a cluster for trying, which has just the nodes that the job asks for."""
        self._cluster = LocalCluster.started(
            [
                ClusterNode(
                    num_cpus=max(1, int(available_cores())),
                    labels={
                        GROUP: instance.instance_group_name,
                        TYPE: instance.instance_type,
                    },
                )
                for instance in plan.instances
            ],
            log=self._folder.logs / "ray.log",
        )
        address = self._cluster.wait_for_address(self._ending)
        os.environ |= self._cluster.environment
        return address

    def _make_actors(self, plan: LaunchPlan) -> None:
        """Put an actor on each of the reserved nodes."""
        wanted, group = self._reservation.wanted, self._reservation.group
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        actor_class = self._ray.remote(HostActor)
        for place, (instance, bundle) in enumerate(zip(plan.instances, wanted, strict=True)):
            options = actor_class.options(
                num_cpus=bundle.num_cpus,
                num_gpus=bundle.num_gpus,
                max_concurrency=_ACTOR_THREADS,
                scheduling_strategy=strategies.PlacementGroupSchedulingStrategy(
                    placement_group=group, placement_group_bundle_index=place
                ),
            )
            self._actors.append(options.remote(self._folder.job_name, instance.host))

    def _start(self, plan: LaunchPlan, places: Sequence[RayNode]) -> None:
        secret = self._folder.secret_file.read_bytes()
        variables = {ATTEMPT_VARIABLE: os.environ.get(ATTEMPT_VARIABLE, "1")}
        self._give_checkpoints(plan)
        seen_s: dict[str, float] = {}  # of trainers, which need checkpoints in common
        asked = []
        for actor, instance, place in zip(self._actors, plan.instances, places, strict=True):
            own_plan = plan_text(replace(plan, instances=(instance,)))
            agent = agent_text(plan, instance, place)
            asked.append(actor.start.remote(agent, own_plan, secret, variables))
            of_them = seen_s if instance.role == "train" else {}
            self.links[instance.host] = InstanceLink(
                self._ray,
                actor,
                folder=self._folder,
                host=instance.host,
                where=(
                    f"{instance.host} ({instance.instance_group_name}) on node "
                    f"{place.address}, in {place.run_folder}"
                ),
                seen_s=of_them if plan.job.use_spot_instances else None,
                told=self._told,
            )
        self._all(asked, _START_LIMIT_S)
        for link in self.links.values():
            link.thread.start()

    def _give_checkpoints(self, plan: LaunchPlan) -> None:
        """Bring each instance what earlier attempts have saved, a piece of each at once."""
        bases = [self._folder.opt_ml(instance.host) for instance in plan.instances]
        for pieces in zip_longest(*map(_pieces, bases)):
            asked = [
                actor.put.remote(*piece)
                for actor, piece in zip(self._actors, pieces, strict=True)
                if piece is not None
            ]
            self._all(asked, _START_LIMIT_S)

    def _all(self, asked: Sequence[Any], limit_s: float) -> list[Any]:
        """Return what was asked for.

        Raises:
            InstanceLostError: A node is gone.
            LauncherError: It does not come, or the run is to end.
        """
        ray = self._ray
        waiting = list(asked)
        begun_s = looked_s = time.monotonic()
        while waiting:
            _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK_S)
            if self._ending.is_set():
                raise LauncherError("The run was ended before its instances had started.")
            if waiting and (now_s := time.monotonic()) >= looked_s + _LOOK_FOR_NODES_S:
                looked_s = now_s
                self._check_nodes()
                if now_s >= begun_s + limit_s:
                    raise LauncherError(_too_long(limit_s))
        try:
            values: list[Any] = ray.get(list(asked))
        except ray.exceptions.RayError as error:
            self._check_nodes()
            raise LauncherError(
                f"An instance could not be started on its node: {str(error)[-800:].strip()} "
                "Install smtc-lab on every node: pip install 'smtc-lab[ray]'."
            ) from error
        return values

    def _check_nodes(self) -> None:
        """Raise ``InstanceLostError`` where a reserved node is gone."""
        if lost := self._reservation.lost_nodes(self._ray):
            raise InstanceLostError(
                f"Node {lost[0]} of the Ray cluster was lost while the instances were started."
            )


def _pieces(base: Path) -> Iterator[tuple[Told, int, bytes]]:
    """Yield the checkpoints below an ``opt/ml``, as ``HostActor.put`` takes them."""
    for told in listing(base):
        offset, path = 0, base / told[0]
        with path.open("rb") as file:
            while (data := file.read(PIECE_BYTES)) or not offset:
                yield told, offset, data
                if not data:
                    break
                offset += len(data)


def _too_long(limit_s: float) -> str:
    return (
        f"The nodes of the Ray cluster did not start the instances within {limit_s:g} s. Look "
        "at what else runs there, and at Ray's own logs."
    )
