from __future__ import annotations

import multiprocessing
import socket
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import torch

from notebooks.benchmarks.dataservice import siege
from notebooks.benchmarks.dataservice.figures import siege_figures
from notebooks.benchmarks.dataservice.payloads import PAYLOADS
from notebooks.benchmarks.dataservice.peers.known import PEERS
from notebooks.benchmarks.dataservice.peers.peer import forked_server
from notebooks.benchmarks.dataservice.siege import NUM_STRANGERS, measure_siege
from smtc_lab.dataservice.protocol.handshake import greet
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    number = torch.get_num_threads()
    yield
    torch.set_num_threads(number)


@pytest.mark.parametrize("strangers", ["idle", "slow"])
def test_a_siege_compares_steps_with_and_without_strangers(strangers: Any) -> None:
    measured = measure_siege(PEERS["ours_tcp"], PAYLOADS["a"], seconds=0.5, strangers=strangers)

    rise = measured.besieged_step_time_s / measured.alone_step_time_s - 1
    assert measured.alone_step_time_s > 0
    assert measured.rise_percent == pytest.approx(rise * 100)
    assert measured.strangers == strangers


@pytest.mark.parametrize(("strangers", "said"), [("idle", b""), ("slow", b"SMTC")])
def test_strangers_come_when_told_and_go_when_told(strangers: Any, said: bytes) -> None:
    ours, theirs = multiprocessing.Pipe()
    with (
        closing(ours),
        socket.create_server(("127.0.0.1", 0), backlog=NUM_STRANGERS) as listener,
        forked_server(partial(siege._besiege, theirs, strangers)),
    ):
        listener.settimeout(20)
        ours.send(listener.getsockname()[1])
        with listener.accept()[0] as connection, connection.makefile("rb") as stranger:
            begin = stranger.read(len(said))
            ours.send(None)
            assert ours.recv() is None
            rest = stranger.read()

    assert begin == said
    assert greet(bytes(32)).startswith(begin + rest)
    assert strangers == "slow" or not rest


def test_a_server_that_does_not_listen_cannot_be_besieged() -> None:
    with pytest.raises(RunFailedError, match=r"No server process listens.*ours_tcp"):
        measure_siege(PEERS["ours_local"], PAYLOADS["a"], seconds=0.1, strangers="idle")


def test_a_step_that_got_quicker_is_no_gain_of_a_siege() -> None:
    idle = [{"strangers": "idle", "rise_percent": rise} for rise in (-9.0, -3.0, 4.0)]
    slow = [{"strangers": "slow", "rise_percent": rise} for rise in (-9.0, 12.0, 13.0)]

    figures = list(siege_figures([*idle, *slow]))

    assert [(figure.value, figure.holds) for figure in figures] == [(0, True), (12, False)]
    assert "1000 idle strangers (0: none seen)" in figures[0].name
