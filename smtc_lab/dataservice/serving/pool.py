"""The data worker processes of one data server, or of one trainer."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import warnings
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.serving import worker
from smtc_lab.dataservice.serving.batch_maker import Identity

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Mapping
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.late_loaders.landmarks import Landmarks
    from smtc_lab.dataservice.protocol.segments import SharedFile
    from smtc_lab.dataservice.source import LoaderSource

_JOIN_S = 5.0


class DataWorkers:
    """Starts, connects and ends data workers. Every call comes from one thread."""

    def __init__(  # noqa: PLR0913  what a server or a trainer gives them
        self,
        sources: Mapping[str, LoaderSource],
        *,
        num_data_workers: int,
        host: str,
        tls: ssl.SSLContext | None = None,
        landmarks: Landmarks | None = None,
        are_vcpus: bool = True,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            sources: What they serve, by loader name.
            num_data_workers: How many there are at most.
            host: What messages call this instance.
            tls: What connections are encrypted with; None: they are not.
            landmarks: What the script has here, of which trainers may speak; None: nothing.
            are_vcpus: Whether each is held to one vCPU where those are emulated; else they
                stand for all of them.
        """
        self._landmarks = landmarks
        self._are_vcpus = are_vcpus
        self._sources = sources
        self._tls = tls
        self._num_data_workers = num_data_workers
        self._host = host
        self._processes: dict[int, ForkProcess] = {}
        self._controls: dict[int, socket.socket] = {}
        self._before: dict[int, EndedWorker] = {}

    def start(self, number: int, file: SharedFile | None = None) -> None:
        """Fork the data worker with this number; it must not be there.

        Args:
            number: Its number.
            file: Memory that it shares with its only client; None: it shares none.

        Like torch's DataLoader, this forks a process that may have threads. The child therefore
        uses nothing that another thread may have locked: no logging, no object of ours that has
        a lock, nothing but what it was given and what it makes.
        """
        ours, theirs = socket.socketpair()
        self._controls[number] = close_in_children(ours)
        in_main_thread = threading.current_thread() is threading.main_thread()
        process = multiprocessing.get_context("fork").Process(
            target=worker.run,
            args=(
                theirs,
                self._sources,
                Identity(
                    host=self._host,
                    number=number,
                    num_data_workers=self._num_data_workers,
                    before=self._before.get(number),
                ),
            ),
            kwargs={
                "parent_pid": os.getpid(),
                "dies_with_thread": in_main_thread,
                "file": file,
                "tls": self._tls,
                "landmarks": self._landmarks,
                "is_a_vcpu": self._are_vcpus,
            },
            name=f"data worker {number}",
            daemon=True,
        )
        with theirs, warnings.catch_warnings():
            # Python 3.12 warns of any fork beside threads, also of those of OpenMP.
            warnings.simplefilter("ignore", DeprecationWarning)
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, worker.HELD_SIGNALS)
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._processes[number] = process

    def connect(self, number: int, connection: socket.socket) -> bool:
        """Hand a connection to a data worker; return False when there is no such data worker.

        The caller closes its own copy.
        """
        control = self._controls.get(number)
        try:
            return control is not None and bool(
                socket.send_fds(control, [b"+"], [connection.fileno()])
            )
        except OSError:
            return False

    def control(self, number: int) -> socket.socket:
        """Return the socket on which a data worker tells of connections that ended."""
        return self._controls[number]

    def sentinel(self, number: int) -> int:
        """Return a descriptor that becomes readable when the data worker has ended."""
        return self._processes[number].sentinel

    def pid(self, number: int) -> int | None:
        """Return the process id of a data worker; None when there is no such data worker."""
        process = self._processes.get(number)
        return None if process is None else process.pid

    def is_alive(self, number: int) -> bool:
        """Return whether the data worker runs."""
        process = self._processes.get(number)
        return process is not None and process.is_alive()

    def end(self, number: int) -> EndedWorker:
        """End a data worker, if it has not ended by itself; return how it ended.

        It holds nothing that matters, so it is killed at once.
        """
        ended = self._before[number] = self._end([number])[0]
        return ended

    def end_all(self) -> None:
        """End all data workers and wait until they are gone."""
        self._end(list(self._processes))

    def _end(self, numbers: Iterable[int]) -> list[EndedWorker]:
        ended = [self._processes.pop(number) for number in numbers]
        for number, process in zip(numbers, ended, strict=True):
            process.kill()
            self._controls.pop(number).close()
        return [_ended(process) for process in ended]


def _ended(process: ForkProcess) -> EndedWorker:
    process.join(_JOIN_S)
    pid, code = process.pid, process.exitcode
    assert pid is not None  # noqa: S101  it was started
    if code is not None:
        process.close()
    return EndedWorker(pid=pid, exit_code=code)
