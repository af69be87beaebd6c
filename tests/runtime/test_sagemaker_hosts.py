from __future__ import annotations

import socket

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.instance.resource_config import InstanceGroupHosts, ResourceConfig
from smtc_lab.runtime.sagemaker.hosts import platform_hosts, resolve

PLANNED = [
    {"host": "algo-1", "instance_group_name": "dnn_group"},
    {"host": "algo-2", "instance_group_name": "data_group"},
    {"host": "algo-3", "instance_group_name": "data_group"},
]


def resources(**groups: tuple[str, ...]) -> ResourceConfig:
    hosts = tuple(sorted(host for names in groups.values() for host in names))
    return ResourceConfig(
        current_host=hosts[0],
        current_instance_type="ml.c5.xlarge",
        current_group_name=next(iter(groups)),
        hosts=hosts,
        instance_groups=tuple(
            InstanceGroupHosts(instance_group_name=name, instance_type="t", hosts=names)
            for name, names in groups.items()
        ),
        network_interface_name="eth0",
    )


def test_instances_keep_their_group_whatever_the_platform_calls_them() -> None:
    names = platform_hosts(
        PLANNED, resources(data_group=("algo-10", "algo-2"), dnn_group=("algo-3",))
    )

    assert names == {"algo-1": "algo-3", "algo-2": "algo-2", "algo-3": "algo-10"}


def test_the_only_group_may_be_called_otherwise() -> None:
    names = platform_hosts(PLANNED[1:], resources(homogeneousCluster=("algo-1", "algo-2")))

    assert names == {"algo-2": "algo-1", "algo-3": "algo-2"}


def test_another_number_of_instances_is_refused() -> None:
    with pytest.raises(LauncherError, match=r"'data_group' has 1 instances, but 2 were asked"):
        platform_hosts(PLANNED, resources(data_group=("algo-1",), dnn_group=("algo-2",)))


def test_names_that_come_late_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, asked = socket.getaddrinfo, []

    def late(host: str, *args: object) -> object:
        asked.append(host)
        if host == "algo-1" and len(asked) < 2:
            raise socket.gaierror(-2, "Name or service not known")
        return plain("127.0.0.7", *args)

    monkeypatch.setattr(socket, "getaddrinfo", late)

    assert resolve(["algo-1"], limit_s=60) == {"algo-1": "127.0.0.7"}
    assert asked == ["algo-1", "algo-1"]


def test_a_name_that_never_comes_is_named() -> None:
    with pytest.raises(LauncherError, match=r"algo-2\.invalid are not known after 0 s"):
        resolve(["127.0.0.1", "algo-2.invalid"], limit_s=0)
