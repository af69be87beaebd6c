"""Data workers that answer a ledger when a test says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.messages import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.dataservice.client.epoch import Epoch, Request
    from smtc_lab.dataservice.client.ledger import Ledger


class FakeLink:
    """A data worker that answers when the test says so."""

    def __init__(self, ledger: Ledger, server: str = "algo-2", data_worker: int = 0) -> None:
        self.ledger = ledger
        self.server = server
        self.data_worker = data_worker
        self.suspected_since_s: float | None = None
        self.is_reported = False
        self.outstanding: dict[int, Request] = {}
        self.mean_busy_s: float | None = None
        self.sent: list[int] = []

    def send(self, requests: Sequence[Request]) -> None:
        self.sent += [request.order for request in requests]

    def answer(self, busy_s: float = 1.0) -> None:
        number, request = next(iter(self.outstanding.items()))
        self.ledger.settle(self, number, Answer(request.order, None, self.server, 0, busy_s))


def ask(ledger: Ledger, epoch: Epoch, count: int) -> None:
    first = epoch.asked
    ledger.ask(epoch, [(lambda _: [], [first + which], None) for which in range(count)])


def delivered(epoch: Epoch) -> list[object]:
    values = []
    while epoch.is_ready():
        values.append(epoch.pop()[1].value)
    return values
