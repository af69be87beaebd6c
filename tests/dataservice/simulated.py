"""A pass over a loader in pretended time: the ledger is the real one, data workers are not."""

from __future__ import annotations

import functools
import heapq
import itertools
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.client.epoch import Epoch
from smtc_lab.dataservice.client.ledger import Ledger
from smtc_lab.dataservice.protocol.messages import Answer
from tests.dataservice.ledger_kit import FakeLink, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.dataservice.client.epoch import Request

_LATENCY_S = 0.0005
_NOISE = 0.1


@dataclass(frozen=True)
class Worker:
    """A data worker."""

    busy_s: float
    """What it takes for a batch, in seconds, give or take a tenth."""
    server: str = "algo-2"
    joins_s: float = 0.05
    """When it is connected."""
    begins_s: float = 0.0
    """What its first batch takes besides."""


def own(count: int, busy_s: float) -> list[Worker]:
    """Return data workers of the trainer, which are there at once."""
    return [Worker(busy_s, "local", 0.0)] * count


class _Link(FakeLink):
    def __init__(self, simulated: Pass, worker: Worker, number: int) -> None:
        super().__init__(simulated.ledger, worker.server, number)
        self._pass, self._busy_s, self._more_s = simulated, worker.busy_s, worker.begins_s
        self._works = False
        self._todo: list[int] = []

    def send(self, requests: Sequence[Request]) -> None:
        super().send(requests)
        self._todo += [request.number for request in requests]
        if not self._works:
            self._begin()

    def _begin(self) -> None:
        self._works = bool(self._todo)
        if self._works:
            number, busy_s = self._todo.pop(0), self._busy_s * self._pass.noise()
            busy_s, self._more_s = busy_s + self._more_s, 0.0
            self._pass.after(busy_s + _LATENCY_S, lambda: self._end(number, busy_s))

    def _end(self, number: int, busy_s: float) -> None:
        self._begin()
        if number in self.outstanding:
            self.ledger.settle(self, number, Answer(number, None, self.server, 0, busy_s))
        self._pass.go_on()


class Pass:
    """One pass: a trainer asks ahead within its window, and computes on each batch.

    Args:
        workers: Who makes batches.
        device_s: What the trainer takes for a step, in seconds.
        steps: Batches of the pass.
    """

    def __init__(self, workers: Sequence[Worker], *, device_s: float, steps: int) -> None:
        self.ledger, self._epoch = Ledger(), Epoch(in_order=True)
        self._device_s, self._steps = device_s, steps
        self._random = random.Random(0)  # noqa: S311  pretended noise
        self._now_s, self._coming = 0.0, list[Any]()
        self._count = itertools.count()
        self._computes = False
        self.step_ends_s: list[float] = []
        self.links = [_Link(self, worker, number) for number, worker in enumerate(workers)]
        for link, worker in zip(self.links, workers, strict=True):
            if worker.joins_s:
                self.after(worker.joins_s, functools.partial(self._join, link))
            else:
                self.ledger.attach(link)
        self.go_on()
        while len(self.step_ends_s) < steps:
            self._now_s, _, happens = heapq.heappop(self._coming)
            happens()

    def noise(self) -> float:
        """Return by how much a batch takes longer than usual."""
        return self._random.lognormvariate(0.0, _NOISE)

    def after(self, seconds: float, happens: Callable[[], None]) -> None:
        """Have something happen so many seconds from now."""
        heapq.heappush(self._coming, (self._now_s + seconds, next(self._count), happens))

    def step_times_s(self, first: int) -> float:
        """Return the mean time of the steps from the given one on, in seconds."""
        ends_s = self.step_ends_s[first - 1 :]
        return (ends_s[-1] - ends_s[0]) / (len(ends_s) - 1)

    def go_on(self) -> None:
        """Let the trainer look: something has come."""
        if self._computes:
            return
        epoch, crew = self._epoch, self.ledger.crew
        room = min(crew.window - epoch.undelivered, self._steps - epoch.asked)
        if room > 0:
            ask(self.ledger, epoch, room)
        if epoch.is_ready():
            epoch.pop()
            self._computes = True
            self.after(self._device_s, self._step)

    def _join(self, link: _Link) -> None:
        self.ledger.attach(link)
        self.go_on()

    def _step(self) -> None:
        self._computes = False
        self.step_ends_s.append(self._now_s)
        self.go_on()
