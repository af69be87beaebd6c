"""The data worker processes of a trainer itself."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.connection import WorkerConnection
from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.serving import worker
from smtc_lab.dataservice.serving.batch_maker import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.dataservice.protocol.segments import SharedFile
    from smtc_lab.dataservice.source import LoaderSource


class DataWorkers:
    """Starts and ends data workers. Every call comes from one thread."""

    def __init__(
        self,
        source: LoaderSource,
        *,
        num_data_workers: int,
        host: str,
        are_vcpus: bool = True,
        is_in_turn: bool = False,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            source: What they make batches of.
            num_data_workers: How many there are at most.
            host: What messages call this instance.
            are_vcpus: Whether each is held to one vCPU where those are emulated; else they
                stand for all of them.
            is_in_turn: Whether each stands for the trainer itself, beside data servers.
        """
        self._is_in_turn = is_in_turn
        self._are_vcpus = are_vcpus
        self._source = source
        self._num_data_workers = num_data_workers
        self._host = host
        self._processes: dict[int, ForkProcess] = {}
        self._before: dict[int, EndedWorker] = {}

    def start(self, number: int, file: SharedFile) -> socket.socket:
        """Fork the data worker with this number, which must not be there; return its socket.

        Args:
            number: Its number.
            file: Memory that it shares with the trainer.
        """
        ours, theirs = socket.socketpair()
        close_in_children(ours)
        identity = Identity(
            host=self._host,
            number=number,
            num_data_workers=self._num_data_workers,
            before=self._before.get(number),
            is_in_turn=self._is_in_turn,
        )

        def arrive(
            release: Callable[[int], None] | None,
        ) -> tuple[WorkerConnection, Identity]:
            return WorkerConnection(theirs, release=release), identity

        with theirs:
            self._processes[number] = worker.fork(
                worker.run,
                arrive,
                self._source,
                file,
                self._are_vcpus,
                name=f"data worker {number}",
            )
        return ours

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
        for process in ended:
            process.kill()
        return [worker.ended(process) for process in ended]
