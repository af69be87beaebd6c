"""A storm of faults over a training run: what it hits is drawn from a seed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.proxy import Proxy

LEAST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 0.3


@dataclass(kw_only=True)
class Storm:
    """Kills processes of all kinds and cuts links, one after the other, in its own thread.

    Servers are started again on their port at once. Use it as a context manager.
    """

    seed: int
    """Decides the victims and the pauses."""

    num_faults: int
    """The storm ends after so many."""

    servers: list[RunningServer]
    """The data servers; a killed one is replaced in this list."""

    restart: Callable[[RunningServer], RunningServer]
    """Starts a server again in place of a killed one."""

    proxies: list[Proxy]
    """What stands between the trainer and the servers."""

    local_pids: Callable[[], list[int]]
    """Tells the process ids of the trainer's own data workers."""

    faults: list[str] = field(default_factory=list)
    """What was done until now."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  a storm, not a secret
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._rage, daemon=True)

    @property
    def rages(self) -> bool:
        """Whether more faults are to come."""
        return self._thread.is_alive()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)
        assert not self._thread.is_alive(), "the storm hangs"

    def _rage(self) -> None:
        blows = [
            *[self._kill_data_worker] * 4,
            *[self._kill_house] * 2,
            *[self._cut] * 2,
            self._kill_server,
        ]
        while len(self.faults) < self.num_faults:
            if self._over.wait(self._random.uniform(LEAST_PAUSE_S, LONGEST_PAUSE_S)):
                return
            blow = self._random.choice(blows)
            blow()
            self.faults.append(blow.__name__)

    def _kill_data_worker(self) -> None:
        pids = [pid for server in self.servers for pid in server.data_worker_pids()]
        self._kill_one_of([*self.local_pids(), *pids])

    def _kill_house(self) -> None:
        self._kill_one_of([pid for server in self.servers for pid in server.house_pids()])

    def _kill_one_of(self, pids: list[int]) -> None:
        if pids:
            with contextlib.suppress(ProcessLookupError):  # gone with what was hit before
                os.kill(self._random.choice(pids), signal.SIGKILL)

    def _kill_server(self) -> None:
        number = self._random.randrange(len(self.servers))
        self.servers[number].kill()
        self.servers[number] = self.restart(self.servers[number])

    def _cut(self) -> None:
        self._random.choice(self.proxies).cut()
