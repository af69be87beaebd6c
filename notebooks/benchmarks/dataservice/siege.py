"""How much strangers at a server's door slow the trainer down."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import socket
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from operator import truediv
from statistics import median
from typing import TYPE_CHECKING, Literal

import psutil
import torch

from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, forked_server
from smtc_lab.dataservice.protocol.handshake import DEADLINE_S, greet
from smtc_lab.errors import RunFailedError
from smtc_lab.machine.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload
    from notebooks.benchmarks.dataservice.peers.peer import Peer

NUM_STRANGERS = 1000
"""Connections that are open at one time."""

_OTHER_FILES = 100
_BYTE_EVERY_S = 0.1
_PERIOD_S = DEADLINE_S
"""By then the server has hung up on all strangers, so that others come."""
_SIDE = 192
_PRODUCTS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Siege:
    """How long a trainer's steps took with and without strangers at the server's door."""

    peer: str
    """Name of the peer."""

    payload: str
    """Name of the payload."""

    strangers: str
    """What the strangers do: ``idle`` or ``slow``."""

    alone_step_time_s: float
    """From asking for a batch to the end of the step, without strangers, in seconds.

    The median over the periods of their means.
    """

    besieged_step_time_s: float
    """The same with strangers, in seconds."""

    rise_percent: float
    """By how much strangers raise it, in percent: the median over pairs of periods.

    Below 0 where the machine's own drift is larger.
    """


def measure_siege(
    peer: Peer, payload: Payload, *, seconds: float, strangers: Literal["idle", "slow"]
) -> Siege:
    """Return how much a thousand strangers raise the step time of a trainer.

    A step takes a batch and multiplies some matrices. Periods with and without strangers take
    turns, so that a drift of the machine hits both. The strangers' own processor time is taken
    from the same machine, and counts against the server.

    Args:
        peer: Way of delivery, with a server that goes on listening.
        payload: What arrives.
        seconds: Length of the measurement, with and without strangers.
        strangers: ``idle`` ones connect and say nothing; ``slow`` ones begin as a client does,
            a byte at a time.

    Raises:
        RunFailedError: Nobody listens, or too few files may be open.
    """
    torch.set_num_threads(1)
    others = set(descendants(os.getpid()))
    ours, theirs = multiprocessing.Pipe()
    alone_s, besieged_s = [], []
    pairs = max(1, round(seconds / 2 / _PERIOD_S))
    period_s = seconds / 2 / pairs
    with (
        closing(ours),
        forked_server(partial(_besiege, theirs, strangers)),  # before there are threads
        peer.deliver(payload) as batches,
    ):
        port = _port_of_server(others)
        _step_time_s(batches, period_s)
        for _ in range(pairs):
            alone_s.append(_step_time_s(batches, period_s))
            ours.send(port)
            besieged_s.append(_step_time_s(batches, period_s))
            ours.send(None)
            ours.recv()
    return Siege(
        peer=peer.name,
        payload=payload.name,
        strangers=strangers,
        alone_step_time_s=median(alone_s),
        besieged_step_time_s=median(besieged_s),
        rise_percent=(median(map(truediv, besieged_s, alone_s)) - 1) * 100,
    )


def _step_time_s(batches: Iterator[Batch], seconds: float) -> float:
    """Train for some seconds; return the mean step time."""
    left, right = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    product = torch.empty(_SIDE, _SIDE)
    steps = 0
    began_s = time.perf_counter()
    while (took_s := time.perf_counter() - began_s) < seconds or not steps:
        next(batches)
        for _ in range(_PRODUCTS):
            torch.mm(left, right, out=product)
        steps += 1
    return took_s / steps


def _port_of_server(others: set[int]) -> int:
    """Return where a new descendant listens, as a stranger on this machine would find it.

    Args:
        others: Descendants that were there before the server.
    """
    for pid in set(descendants(os.getpid())) - others:
        for connection in psutil.Process(pid).net_connections("tcp4"):
            if connection.status == psutil.CONN_LISTEN:
                return int(connection.laddr.port)
    raise RunFailedError(
        "No server process listens, so nobody can besiege it. Choose a peer that goes on "
        "listening when the trainer has connected, such as ours_tcp."
    )


def _besiege(
    orders: Connection, strangers: Literal["idle", "slow"], announce: Callable[[object], None]
) -> None:
    """Send strangers to each port that is ordered, until the next order."""
    needed = NUM_STRANGERS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise RunFailedError(
            f"{needed} open files are needed, but RLIMIT_NOFILE is {hard}. Raise it."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    announce(None)
    greeting = greet(bytes(32))
    while True:
        port = orders.recv()
        with ExitStack() as stack:
            waiting = [stack.enter_context(_stranger(port)) for _ in range(NUM_STRANGERS)]
            said = 0
            while not orders.poll(_BYTE_EVERY_S):
                if strangers == "slow" and said < len(greeting):
                    byte = greeting[said : said + 1]
                    waiting = [stranger for stranger in waiting if _says(stranger, byte)]
                    said += 1
        orders.recv()
        orders.send(None)


def _stranger(port: int) -> socket.socket:
    stranger = socket.socket()
    # Where the server's queue is full, the kernel tries again; nobody waits for that.
    stranger.setblocking(False)
    stranger.connect_ex((LOOPBACK, port))
    return stranger


def _says(stranger: socket.socket, byte: bytes) -> bool:
    """Send a byte; return whether the server still listens."""
    try:
        stranger.send(byte)
    except BlockingIOError:
        return True
    except OSError as error:
        return error.errno == errno.ENOTCONN  # it waits in the server's queue
    return True
