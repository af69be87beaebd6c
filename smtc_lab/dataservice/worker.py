"""A data worker: a forked process that makes one batch at a time for all its connections."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, NoReturn

import torch
from torch.utils.data._utils import worker as torch_worker

from smtc_lab.dataservice.connection import WorkerConnection
from smtc_lab.dataservice.messages import BatchRequest, Hello, pack_batch, pack_failure
from smtc_lab.dataservice.remedies import SAME_LOADERS
from smtc_lab.dataservice.seeding import sample_seeds, seed_sample
from smtc_lab.dataservice.source import make_batch
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.dataservice.source import LoaderSource

CLOSED = b"-"
"""What a data worker writes to its control socket for each connection that ended."""

HELD_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
"""Blocked while a data worker is forked: until it has handlers of its own, it would run the
parent's, which may stop the parent's server."""

_PARENT_CHECK_S = 1.0
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a forked process may not be able to take the loader's lock.
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who a data worker is."""

    host: str
    """Name of its instance."""

    number: int
    """Its number among the data workers of its server or trainer, from 0."""

    num_data_workers: int
    """How many those are."""

    def __str__(self) -> str:
        return f"{self.host} (data worker {self.number})"


def run(
    control: socket.socket,
    sources: Mapping[str, LoaderSource],
    identity: Identity,
    *,
    parent_pid: int,
    dies_with_thread: bool,
) -> NoReturn:
    """Make batches until the control socket ends. The main function of the process.

    Args:
        control: Brings connections as file descriptors; its end means that the parent is gone.
        sources: What it serves, by loader name.
        identity: Who it is.
        parent_pid: Process that forked it.
        dies_with_thread: Whether the forking thread lives as long as the parent, so that the
            kernel may end this process with it.
    """
    try:
        _leave_parent(parent_pid, dies_with_thread=dies_with_thread)
        inbox: SimpleQueue[tuple[WorkerConnection, int, BatchRequest]] = SimpleQueue()
        hello = Hello(
            host=identity.host,
            data_worker=identity.number,
            num_data_workers=identity.num_data_workers,
            loaders={name: source.num_samples for name, source in sources.items()},
        )
        threading.Thread(
            target=_admit, args=(control, inbox, hello.pack(), parent_pid), daemon=True
        ).start()
        _make_batches(inbox, _BatchMaker(sources, identity))
    except BaseException:  # noqa: BLE001  the last chance to say why the process ends
        traceback.print_exc()
    finally:
        # Not sys.exit: the parent's exit handlers were forked too.
        os._exit(1)


def _leave_parent(parent_pid: int, *, dies_with_thread: bool) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_SIGNALS)
    if dies_with_thread:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)
    torch.set_num_threads(1)


def _admit(
    control: socket.socket,
    inbox: SimpleQueue[tuple[WorkerConnection, int, BatchRequest]],
    hello: list[memoryview],
    parent_pid: int,
) -> None:
    """Take connections from the parent, and end the process when the parent is gone."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        # The look at the parent is for a control socket that some other fork keeps open.
        ready = poll.poll(_PARENT_CHECK_S * 1000)
        if os.getppid() != parent_pid:
            os._exit(0)
        if not ready:
            continue
        try:
            said, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        except OSError:
            said, descriptors = b"", []
        if not said:
            os._exit(0)
        if not descriptors:
            _tell(control)  # this process has no descriptor left for the connection
        for descriptor in descriptors:
            peer = socket.socket(fileno=descriptor)
            WorkerConnection(peer, inbox, lambda: _tell(control)).start(hello)


def _tell(control: socket.socket) -> None:
    try:
        control.send(CLOSED)
    except OSError:
        os._exit(0)


def _make_batches(
    inbox: SimpleQueue[tuple[WorkerConnection, int, BatchRequest]], maker: _BatchMaker
) -> NoReturn:
    while True:
        connection, number, request = inbox.get()
        if connection.is_open:
            connection.reply(maker.answer(number, request))
            # What the dataset printed would otherwise die with the process.
            sys.stdout.flush()


class _BatchMaker:
    """Makes batches of any of the loaders, one at a time."""

    def __init__(self, sources: Mapping[str, LoaderSource], identity: Identity) -> None:
        self._sources = sources
        self._identity = identity
        self._current: LoaderSource | None = None
        self._initialized: set[str] = set()

    def answer(self, number: int, request: BatchRequest) -> list[memoryview]:
        """Return the message with the batch, or with the reason why there is none."""
        started = time.perf_counter()
        try:
            source = self._enter(request)
            batch = make_batch(source, request.indices, request.place)
            return pack_batch(number, batch, time.perf_counter() - started)
        except BaseException as error:  # noqa: BLE001  whatever it is, the trainer must hear it
            return pack_failure(number, error, who=str(self._identity))

    def _enter(self, request: BatchRequest) -> LoaderSource:
        """Return the source of a request, with ``get_worker_info`` set up for it."""
        source = self._sources.get(request.loader)
        if source is None:
            raise DataServiceError(
                f"There is no loader {request.loader!r} here, only "
                f"{', '.join(map(repr, self._sources)) or 'none'}. {SAME_LOADERS}"
            )
        if source is not self._current:
            self._current = source
            torch_worker._worker_info = torch_worker.WorkerInfo(  # type: ignore[no-untyped-call]  # noqa: SLF001  what get_worker_info() returns
                id=self._identity.number,
                num_workers=self._identity.num_data_workers,
                seed=sample_seeds(request.place.seed, 0, self._identity.number)[1],
                dataset=source.dataset,
            )
        if request.loader not in self._initialized:
            if source.worker_init_fn is not None:
                seed_sample(request.place.seed, 2**64 - 1, self._identity.number)
                source.worker_init_fn(self._identity.number)
            self._initialized.add(request.loader)
        return source
