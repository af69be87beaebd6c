from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.description import InstanceDescription, Rendezvous, trainers_of
from smtc_lab.runtime.starting.entry_points import bound_store

FIRST = InstanceDescription(
    run_folder="/runs/train-1",
    host="algo-1",
    hosts={"algo-1": "127.77.3.1", "algo-2": "127.77.3.2"},
    instance_groups=(("dnn", "ml.p3.16xlarge", 2),),
    trainers=trainers_of([0, 1]),
    rendezvous=Rendezvous(host="algo-1", world_size=4, group_rank=0, num_groups=2),
    command=("python", "train.py"),
    hyperparameters={},
    channels={},
    environment={},
    num_cpus=2,
    num_gpus=0,
    cpu_quota_cores=None,
    grace_s=1.5,
)


def at_port(port: int) -> InstanceDescription:
    assert FIRST.rendezvous is not None
    return replace(FIRST, rendezvous=replace(FIRST.rendezvous, port=port))


def test_the_store_between_hosts_is_bound_to_the_own_address_of_rank_0() -> None:
    bound = bound_store(at_port(0))

    assert bound is not None
    with bound:
        assert bound.getsockname()[0] == "127.77.3.1"


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.77.3.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(EntryPointError, match=rf"Port {port} of 127\.77\.3\.1.*another"):
            bound_store(at_port(port))


def test_who_does_not_serve_the_store_binds_nothing() -> None:
    assert FIRST.rendezvous is not None
    second = replace(FIRST, host="algo-2", trainers=trainers_of([2, 3]))
    in_folder = replace(FIRST, rendezvous=replace(FIRST.rendezvous, in_folder=True))
    alone = replace(FIRST, rendezvous=replace(FIRST.rendezvous, world_size=1))

    assert [bound_store(told) for told in (second, in_folder, alone)] == [None] * 3
