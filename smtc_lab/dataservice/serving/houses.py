"""The houses of a data server: one for each recipe that its clients bring."""

from __future__ import annotations

import functools
import selectors
import socket
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.serving import house, worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.serving.house import Household

_END_S = 2.0
MOST_IDLE = 1
"""Houses that stay though nobody is connected; a dataset that changes leaves one each pass."""

_MOST_CRASHES = 2
_PACKET_BYTES = 4096


@dataclass(kw_only=True, eq=False, slots=True)
class _Running:
    door: socket.socket
    process: ForkProcess
    num_connections: int = 0
    is_opening: bool = False


class Houses:
    """Starts and ends houses, and hands connections to them. Every call from one thread."""

    def __init__(
        self,
        household: Household,
        selector: selectors.BaseSelector,
        on_event: Callable[[str], None],
    ) -> None:
        self._household = household
        self._selector = selector
        self._on_event = on_event
        self._running: dict[bytes, _Running] = {}
        self._crashes: Counter[bytes] = Counter()

    @property
    def num_connections(self) -> int:
        """Connections that are open."""
        return sum(each.num_connections for each in self._running.values())

    def admit(self, recipe: bytes, number: int, connection: socket.socket) -> bool:
        """Hand a connection to a house; return whether that went.

        The caller closes its own copy.

        Args:
            recipe: Digest of the recipe.
            number: The data worker that is asked for.
            connection: Of a client that has proved itself.
        """
        known = self._running.get(recipe) or self._start(recipe)
        try:
            socket.send_fds(known.door, [number.to_bytes(4)], [connection.fileno()])
        except OSError:  # it ends just now, or has too many before it: the client comes again
            return False
        known.num_connections += 1
        return True

    def end_all(self) -> None:
        """End all houses, and with them their data workers; safe twice."""
        running, self._running = self._running, {}
        for each in running.values():
            each.door.close()  # it waits for the end of its data workers, and ends
        until_s = time.monotonic() + _END_S
        for each in running.values():
            if not each.is_opening:
                each.process.join(max(0.0, until_s - time.monotonic()))
            each.process.kill()
            worker.ended(each.process)

    def _end_idle(self) -> None:
        idle = [each for each in self._running.items() if not each[1].num_connections]
        for recipe, known in idle[:-MOST_IDLE]:
            known.process.kill()
            self._forget(recipe, known, is_asked=True)

    def _start(self, recipe: bytes) -> _Running:
        self._end_idle()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        close_in_children(ours)
        problem = None
        if self._crashes[recipe] >= _MOST_CRASHES:
            problem = f"to open its parts has ended {_MOST_CRASHES} processes there"
        with theirs:
            process = worker.fork(
                house.run,
                theirs,
                self._household,
                problem,
                recipe,
                name=f"recipe {recipe.hex()[:8]}",
                has_children=True,
            )
        known = self._running[recipe] = _Running(door=ours, process=process)
        hear = functools.partial(self._hear, recipe, known)
        self._selector.register(ours, selectors.EVENT_READ, hear)
        return known

    def _hear(self, recipe: bytes, known: _Running) -> None:
        """Take note of what a house tells, or of its end."""
        while self._running.get(recipe) is known:
            try:
                said = known.door.recv(_PACKET_BYTES)
            except BlockingIOError:
                return
            except OSError:
                said = b""
            if said == house.GONE:
                known.num_connections -= 1
            elif said == house.OPENING:
                known.is_opening = True
            elif said == house.OPENED:
                known.is_opening = False
            elif said.startswith(house.EVENT):
                self._on_event(said[1:].decode(errors="replace"))
            elif not said:
                self._forget(recipe, known)

    def _forget(self, recipe: bytes, known: _Running, *, is_asked: bool = False) -> None:
        self._selector.unregister(known.door)
        del self._running[recipe]
        known.door.close()
        ended = worker.ended(known.process)
        if is_asked:
            return
        if known.is_opening:
            self._crashes[recipe] += 1
            self._on_event(
                f"a process on {self._household.host} {ended.told()} while it opened what a "
                "loader needs"
            )
        elif ended.exit_code != 0:
            self._on_event(
                f"the data workers of a loader on {self._household.host} ended: their process "
                f"{ended.told()}; started again when they are asked"
            )
