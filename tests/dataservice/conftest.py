from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import signal
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.client import client, greeting
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.protocol import handshake, sockets
from smtc_lab.dataservice.serving import guard, house
from smtc_lab.dataservice.serving.server import DataServer
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.placement import ServerAddress

SECRET = secrets.token_bytes(32)
PLACEMENTS = ("in the trainer", "two local", "server", "server and local", "two servers")


@dataclass
class RunningServer:
    """A data server in a process of its own."""

    process: ForkProcess
    address: ServerAddress
    events: Connection

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def house_pids(self) -> list[int]:
        """Those of the processes that each open one loader, and fork its data workers."""
        return [child.pid for child in _children(self.pid)]

    def data_worker_pids(self) -> list[int]:
        """Those of all loaders and clients."""
        return [child.pid for house in self.house_pids() for child in _children(house)]

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def next_event(self, timeout_s: float = PATIENCE_S) -> str:
        assert self.events.poll(timeout_s), "no event came"
        event: str = self.events.recv()
        return event


def _children(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children()
    return []


def _serve(options: Mapping[str, Any], addresses: Connection, events: Connection) -> None:
    server = DataServer(on_event=events.send, **options)
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    addresses.send(server.address)
    server.serve_forever()


@pytest.fixture
def secret() -> bytes:
    return SECRET


@pytest.fixture
def serve() -> Iterator[Callable[..., RunningServer]]:
    """Start data servers as processes; all are gone after the test."""
    running: list[RunningServer] = []
    context = multiprocessing.get_context("fork")

    def start(**options: Any) -> RunningServer:
        options = {
            "host": "127.0.0.1",
            "secret": SECRET,
            "num_data_workers": 2,
            "name": "algo-2",
        } | options
        ours, theirs = context.Pipe()
        events, their_events = context.Pipe()
        process = context.Process(target=_serve, args=(options, theirs, their_events))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # Python 3.12: threads and forks
            process.start()
        theirs.close()
        their_events.close()
        assert ours.poll(PATIENCE_S), "the server did not say its address"
        running.append(RunningServer(process, ours.recv(), events))
        ours.close()
        return running[-1]

    yield start
    for server in running:
        server.process.terminate()
    for server in running:
        server.process.join(PATIENCE_S)
        assert not server.process.is_alive()
        server.events.close()


@pytest.fixture(params=PLACEMENTS)
def place(request: pytest.FixtureRequest, place_at: Callable[..., Any]) -> Callable[..., Any]:
    """Return a maker of dataloaders whose batches are made at one of the placements."""

    def make(dataset: Any, **arguments: Any) -> DataLoader[Any]:
        loader: DataLoader[Any] = place_at(request.param, dataset, **arguments)
        return loader

    return make


@pytest.fixture
def place_at(serve: Callable[..., RunningServer]) -> Iterator[Callable[..., Any]]:
    made: list[DataLoader[Any]] = []

    def make(where: str, dataset: Any, **arguments: Any) -> DataLoader[Any]:
        num_servers = {"server": 1, "server and local": 1, "two servers": 2}.get(where, 0)
        num_local = {"two local": 2, "server and local": 1}.get(where, 0)
        servers = [serve(name=f"algo-{number + 2}").address for number in range(num_servers)]
        loader = DataLoader(
            dataset,
            **arguments,
            servers=servers,
            secret=SECRET,
            num_local_workers=num_local,
        )
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers and clients take their time for what is done at once where there is CPU.

    Of tests in which nobody is slow but for want of CPU, which is no fault to be told of.
    """
    monkeypatch.setattr(handshake, "DEADLINE_S", PATIENCE_S)
    monkeypatch.setattr(guard, "DEADLINE_S", PATIENCE_S)
    monkeypatch.setattr(sockets, "CONNECT_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(greeting, "_TLS_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(house, "_TLS_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(client, "_SUSPICION_S", PATIENCE_S)


@pytest.fixture(autouse=True)
def _no_default_placement() -> Iterator[None]:
    placement.set_default(None)
    yield
    placement.set_default(None)


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], None]:
    """Wait for something that another process does."""

    def wait(condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
        deadline_s = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline_s, "it did not happen"
            time.sleep(0.01)

    return wait


@pytest.fixture
def is_gone() -> Callable[[int], bool]:
    """Return whether no process with this id runs; a zombie does not run."""

    def gone(pid: int) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        return not os.path.exists(f"/proc/{pid}")  # noqa: PTH110

    return gone
