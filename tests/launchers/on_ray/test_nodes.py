"""Which nodes are asked for, and what is said when they are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.instance.plan import InstancePlan
from smtc_lab.launchers.on_ray.nodes import Bundle, Node, bundles, read_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

TRAINER, SERVER = "ml.p3.2xlarge", "ml.c5.9xlarge"


def instance(group: str, kind: str, role: Literal["train", "data"] = "train") -> InstancePlan:
    return InstancePlan(
        host="algo-1",
        address="",
        instance_group_name=group,
        instance_type=kind,
        role=role,
        cpu_quota_cores=None,
        num_cpus=1,
        num_workers=1,
        rank=0,
    )


def node(name: str, labels: Mapping[str, str] | None = None, **resources: float) -> Node:
    given = {"CPU": 4.0, **{key.replace("__", "."): value for key, value in resources.items()}}
    return Node(node_id=name, address=name, resources=given, labels=labels or {})


def asked(instances: list[InstancePlan], nodes: list[Node]) -> list[Bundle]:
    return bundles(instances, nodes, address="10.0.0.1:6379")


def test_a_node_is_asked_for_by_its_instance_type() -> None:
    nodes = [
        node("a", {"smtc.instance-type": TRAINER}),
        node("b", {"smtc.instance-type": SERVER}),
    ]

    (bundle,) = asked([instance("dnn_group", TRAINER)], nodes)

    assert bundle.labels == {"smtc.instance-type": TRAINER}
    assert bundle.request() == {"CPU": 4.0}


def test_a_node_that_is_meant_for_a_group_is_asked_for_by_it() -> None:
    nodes = [node("a", {"smtc.group": "dnn_group"}), node("b", {"smtc.instance-type": TRAINER})]

    (bundle,) = asked([instance("dnn_group", TRAINER)], nodes)

    assert bundle.labels == {"smtc.group": "dnn_group"}


def test_custom_resources_stand_in_for_labels() -> None:
    nodes = [node("a"), node("b", **{f"smtc.instance-type.{SERVER}": 1.0})]

    (bundle,) = asked([instance("data_group", SERVER, "data")], nodes)

    assert bundle.labels == {}
    assert bundle.request() == {"CPU": 4.0, f"smtc.instance-type.{SERVER}": 0.001}


def test_local_instances_take_any_node() -> None:
    assert asked([instance("all", "local")], [node("a")])[0].request() == {"CPU": 4.0}


def test_an_instance_takes_what_each_node_of_its_group_has() -> None:
    kind = {"smtc.instance-type": TRAINER}
    nodes = [node("a", kind, CPU=8.0, GPU=4.0), node("b", kind, CPU=6.0, GPU=2.0)]

    (bundle,) = asked([instance("dnn_group", TRAINER)], nodes)

    assert bundle.request() == {"CPU": 6.0, "GPU": 2.0}


def test_a_data_instance_leaves_the_gpus_alone() -> None:
    nodes = [node("a", {"smtc.instance-type": TRAINER}, GPU=4.0)]

    (bundle,) = asked([instance("data_group", TRAINER, "data")], nodes)

    assert bundle.num_gpus == 0


def test_a_request_that_the_cluster_cannot_meet_is_refused_with_a_table() -> None:
    nodes = [
        node("10.0.0.2", {"smtc.instance-type": TRAINER}),
        node("10.0.0.3", {"smtc.instance-type": SERVER}, GPU=1.0),
    ]
    wanted = [
        instance("dnn_group", TRAINER),
        instance("data_group", SERVER, "data"),
        instance("data_group", SERVER, "data"),
    ]

    with pytest.raises(LauncherError) as refused:
        asked(wanted, nodes)

    lines = str(refused.value).splitlines()
    assert lines[0].startswith(
        "The Ray cluster at '10.0.0.1:6379' has nodes for 2 of the job's 3"
    )
    assert [line.split() for line in lines[2:4]] == [
        ["dnn_group", TRAINER, "1", "1"],
        ["data_group", SERVER, "2", "1"],
    ]
    assert lines[6].split(maxsplit=1)[1] == f"4 CPUs, 1 GPUs; smtc.instance-type={SERVER}"
    assert "ray start --labels smtc.instance-type=TYPE" in lines[-1]


def test_two_groups_cannot_share_a_node() -> None:
    nodes = [node("a", {"smtc.instance-type": TRAINER})]

    with pytest.raises(LauncherError, match="nodes for 1 of the job's 2"):
        asked([instance("left", TRAINER), instance("right", TRAINER)], nodes)


def test_a_group_gives_way_to_one_that_has_no_other_node() -> None:
    nodes = [node("a", {"smtc.group": "picky"}), node("b")]

    assert len(asked([instance("any", "local"), instance("picky", "local")], nodes)) == 2


def test_dead_nodes_and_those_without_cpus_do_not_count() -> None:
    known = {"NodeManagerAddress": "10.0.0.2", "Labels": {}}
    values = [
        {**known, "NodeID": "head", "Alive": True, "Resources": {"memory": 1.0}},
        {**known, "NodeID": "dead", "Alive": False, "Resources": {"CPU": 4.0}},
        {**known, "NodeID": "there", "Alive": True, "Resources": {"CPU": 4.0}},
    ]

    assert [node.node_id for node in read_nodes(values)] == ["there"]
