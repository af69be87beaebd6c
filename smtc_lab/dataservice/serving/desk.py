"""What a data worker does all day: takes requests, makes batches, answers."""

from __future__ import annotations

import select
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.dataservice.protocol.connection import WorkerConnection
    from smtc_lab.dataservice.protocol.messages import BatchRequest
    from smtc_lab.dataservice.serving.batch_maker import BatchMaker
    from smtc_lab.machine.quota.vcpu import Vcpu

_QUICK_S = 0.0002
_QUICK_RUN = 8


class Desk:
    """Serves the connection of one data worker, one batch at a time, in the order asked."""

    def __init__(
        self, connection: WorkerConnection, maker: BatchMaker, *, vcpu: Vcpu | None = None
    ) -> None:
        self._connection = connection
        self._maker = maker
        self._vcpu = vcpu
        self._asked: deque[tuple[int, BatchRequest]] = deque()
        self._quick_run = 0

    def work(self) -> None:
        """Work until the client is gone."""
        connection = self._connection
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        connection.send(self._maker.hello())
        while True:
            # A client that does not take its batches is not read on meanwhile.
            if connection.is_full:
                if not self._asked:
                    connection.wait_for_room()
            elif connection.may_have_more or poll.poll(0 if self._asked else None):
                self._asked.extend(connection.requests())
            if not connection.is_open:
                return
            if self._asked:
                self._answer(*self._asked.popleft())

    def _answer(self, number: int, request: BatchRequest) -> None:
        if self._vcpu is not None:
            self._vcpu.begin()
        started_s = time.perf_counter()
        waited_s = self._connection.take_put_wait_s()
        message = self._maker.answer(number, request, put_wait_s=waited_s)
        # What the dataset printed would otherwise die with the process.
        sys.stdout.flush()
        # A single quick batch does not tell that the next one will not keep it waiting.
        is_quick = time.perf_counter() - started_s < _QUICK_S
        self._quick_run = self._quick_run + 1 if is_quick else 0
        more_follows = self._quick_run >= _QUICK_RUN and bool(self._asked)
        self._connection.reply(message, more_follows=more_follows)
        if self._vcpu is not None:
            self._vcpu.note()
