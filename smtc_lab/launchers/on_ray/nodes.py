"""Which nodes of a Ray cluster can stand for the instances of a job.

A node says what it is by labels, ``ray start --labels smtc.instance-type=ml.c5.9xlarge`` or
``smtc.group=data_group``. Clusters older than labels (Ray 2.49) say it by custom resources,
``ray start --resources '{"smtc.instance-type.ml.c5.9xlarge": 1}'``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.instance.plan import InstancePlan

GROUP = "smtc.group"
"""Label of a node that is meant for an instance group, whatever its type."""

TYPE = "smtc.instance-type"
"""Label of a node that is of an instance type."""

_A_TRACE = 0.001
"""How much of a custom resource an instance takes: it says what a node is, not how much."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A living node of a cluster."""

    node_id: str
    """Ray's name for it."""

    address: str
    """The address by which the cluster knows it."""

    resources: Mapping[str, float]
    """Everything that it has, used or not; ``CPU`` and ``GPU`` among it."""

    labels: Mapping[str, str]
    """What it says of itself."""

    @property
    def num_cpus(self) -> int:
        """CPUs that Ray may use on it."""
        return int(self.resources.get("CPU", 0))

    @property
    def num_gpus(self) -> int:
        """GPUs that Ray may use on it."""
        return int(self.resources.get("GPU", 0))


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What an instance asks of its node: all of it."""

    num_cpus: int
    """CPUs."""

    num_gpus: int
    """GPUs."""

    labels: Mapping[str, str]
    """Labels that the node must have."""

    resources: Mapping[str, float]
    """Custom resources that the node must have."""

    def request(self) -> dict[str, float]:
        """Return it as a bundle of a placement group."""
        gpus = {"GPU": float(self.num_gpus)} if self.num_gpus else {}
        return {"CPU": float(self.num_cpus), **gpus, **self.resources}


def read_nodes(values: Sequence[Mapping[str, Any]]) -> list[Node]:
    """Return the living nodes that have CPUs, from what ``ray.nodes()`` tells."""
    nodes = [
        Node(
            node_id=value["NodeID"],
            address=value["NodeManagerAddress"],
            resources=value["Resources"],
            labels=value.get("Labels") or {},
        )
        for value in values
        if value["Alive"]
    ]
    return [node for node in nodes if node.num_cpus >= 1]


def bundles(
    instances: Sequence[InstancePlan], nodes: Sequence[Node], *, address: str
) -> list[Bundle]:
    """Return what to ask for each instance, in order.

    An instance is a whole machine, so it takes all CPUs and, for training, all GPUs that each
    of its group's nodes has.

    Args:
        instances: The instances of the job; each gets a node of its own.
        nodes: The cluster.
        address: How to call the cluster in a message.

    Raises:
        LauncherError: The cluster has no nodes for them; with a table of asked and available.
    """
    found: dict[str, tuple[Bundle | None, list[Node]]] = {}
    for instance in instances:
        group = instance.instance_group_name
        if group not in found:
            count = sum(other.instance_group_name == group for other in instances)
            found[group] = _choice(instance, count, nodes)
    candidates = [
        [nodes.index(node) for node in found[instance.instance_group_name][1]]
        for instance in instances
    ]
    placed = _most_placed(candidates)
    chosen = [found[instance.instance_group_name][0] for instance in instances]
    given = [bundle for bundle in chosen if bundle is not None]
    if len(placed) < len(instances) or len(given) < len(instances):
        raise LauncherError(_refusal(instances, nodes, placed, address))
    return given


def _choice(
    instance: InstancePlan, count: int, nodes: Sequence[Node]
) -> tuple[Bundle | None, list[Node]]:
    """Return how to ask for a group's nodes, and which they are."""
    best: tuple[Bundle | None, list[Node]] = (None, [])
    for labels, resources in _ways(instance):
        matching = [
            node
            for node in nodes
            if labels.items() <= node.labels.items()
            and all(node.resources.get(name, 0) >= _A_TRACE for name in resources)
        ]
        if len(matching) > len(best[1]):
            is_trainer = instance.role == "train"
            bundle = Bundle(
                num_cpus=min(node.num_cpus for node in matching),
                num_gpus=min(node.num_gpus for node in matching) if is_trainer else 0,
                labels=labels,
                resources=resources,
            )
            best = (bundle, matching)
        if len(best[1]) >= count:
            break
    return best


def _ways(instance: InstancePlan) -> Iterator[tuple[dict[str, str], dict[str, float]]]:
    """Yield the ways in which a node may say that it is meant, the clearest first."""
    group, kind = instance.instance_group_name, instance.instance_type
    yield {GROUP: group, TYPE: kind}, {}
    yield {GROUP: group}, {}
    yield {TYPE: kind}, {}
    yield {}, {f"{GROUP}.{group}": _A_TRACE}
    yield {}, {f"{TYPE}.{kind}": _A_TRACE}
    if kind == LOCAL:
        yield {}, {}


def _most_placed(candidates: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return node by instance for as many instances as can have a node of their own."""
    taken: dict[int, int] = {}

    def place(instance: int, seen: set[int]) -> bool:
        for node in candidates[instance]:
            if node in seen:
                continue
            seen.add(node)
            if node not in taken or place(taken[node], seen):
                taken[node] = instance
                return True
        return False

    for instance in range(len(candidates)):
        place(instance, set())
    return {instance: node for node, instance in taken.items()}


def _refusal(
    instances: Sequence[InstancePlan],
    nodes: Sequence[Node],
    placed: Mapping[int, int],
    address: str,
) -> str:
    asked: dict[tuple[str, str], list[bool]] = {}
    for place, instance in enumerate(instances):
        group = (instance.instance_group_name, instance.instance_type)
        asked.setdefault(group, []).append(place in placed)
    missing = (
        f"The Ray cluster at {address!r} has nodes for {len(placed)} of the job's "
        f"{len(instances)} instances, each of which needs one of its own."
    )
    remedy = (
        "Ask for fewer instances, or start nodes with "
        f"'ray start --labels {TYPE}=TYPE' or '--labels {GROUP}=GROUP'; where Ray is older "
        f"than 2.49, with --resources '{{\"{TYPE}.TYPE\": 1}}'."
    )
    lines = [
        missing,
        f"{'group':<20} {'instance type':<20} {'asked':>5} {'available':>9}",
        *(
            f"{group:<20} {kind:<20} {len(has):>5} {sum(has):>9}"
            for (group, kind), has in asked.items()
        ),
        f"{'node':<20} what it is",
        *(f"{node.address:<20} {_what(node)}" for node in nodes),
        *([] if nodes else ["(no node with a CPU is alive)"]),
        remedy,
    ]
    return "\n".join(lines)


def _what(node: Node) -> str:
    said = [f"{name}={value}" for name, value in node.labels.items() if name in {GROUP, TYPE}]
    said += [name for name in node.resources if name.startswith((f"{GROUP}.", f"{TYPE}."))]
    sizes = f"{node.num_cpus} CPUs" + (f", {node.num_gpus} GPUs" if node.num_gpus else "")
    return f"{sizes}; {', '.join(said) or 'says neither group nor type'}"
