"""Links that are slow, cut, or repeat what they carried: F10, F17 and F22."""

from __future__ import annotations

import itertools
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from smtc_lab.dataservice.protocol import wire
from tests.dataservice.faults.trial import Noisy
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.proxy import Proxy
    from tests.dataservice.faults.trial import Trial

pytestmark = pytest.mark.usefixtures("unhurried")
NUM_SAMPLES = 160
HANDSHAKE_BYTES = 44 + 32
"""What a server says before its first message: its greeting and its proof."""


class Repeater:
    """Hands a server's messages on, and repeats old answers: each a second time, some late."""

    def __init__(self, repeated: list[int]) -> None:
        self._repeated = repeated
        self._bytes = bytearray()
        self._skipped = 0
        self._answers: list[bytes] = []

    def __call__(self, data: bytes) -> bytes:
        self._bytes += data
        out = bytearray()
        if self._skipped < HANDSHAKE_BYTES:
            out += self._take(min(HANDSHAKE_BYTES - self._skipped, len(self._bytes)))
            self._skipped += len(out)
        for message in self._messages():
            out += message
            _, _, kind, number, *_ = wire.HEADER.unpack_from(message)
            if kind == wire.Kind.BATCH:
                self._answers.append(message)
                late = self._answers[len(self._answers) // 2]
                out += message + late
                self._repeated.append(number)
        return bytes(out)

    def _messages(self) -> Iterator[bytes]:
        while self._skipped >= HANDSHAKE_BYTES and len(self._bytes) >= wire.HEADER.size:
            *_, json_bytes, payload_bytes = wire.HEADER.unpack_from(self._bytes)
            size = wire.HEADER.size + json_bytes + payload_bytes
            if len(self._bytes) < size:
                return
            yield self._take(size)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._bytes[:size])
        del self._bytes[:size]
        return taken


@pytest.mark.parametrize(
    "link", [{"delay_s": 0.005}, {"bytes_per_s": 200_000}], ids=["long", "thin"]
)
def test_a_slow_link_is_no_fault(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
    link: dict[str, float],
) -> None:
    dataset = Noisy(NUM_SAMPLES)
    proxy = proxied(serve().address, **link)
    trial = begin(dataset, [proxy.address])

    for _ in trial:
        pass

    trial.judge()
    assert trial.events == []
    assert trial.num_lost() == 0
    assert trial.count("sent") <= 1.5 * NUM_SAMPLES // 4
    assert proxy.connections == 2


def test_a_link_that_is_cut_again_and_again_loses_no_sample(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    proxy = proxied(serve().address)
    trial = begin(dataset, [proxy.address])

    for step in trial:
        if step % 8 == 0:
            proxy.cut()

    trial.judge()
    assert proxy.connections >= 6
    assert trial.told(str(proxy.address), "went away")
    assert trial.told("algo-2", "is back")


def test_answers_that_come_twice_and_late_are_dropped(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
) -> None:
    dataset, repeated = Noisy(NUM_SAMPLES), list[int]()
    server = serve()
    proxy = proxied(server.address, tamper=lambda: Repeater(repeated))
    trial = begin(dataset, [proxy.address])

    for _ in range(2):
        for _ in trial:
            pass

    trial.judge()
    assert len(repeated) >= 2 * NUM_SAMPLES // 4
    assert trial.count("dropped") >= NUM_SAMPLES // 4
    assert trial.num_lost() == 0
    assert proxy.connections == 2


def test_a_stranger_who_takes_the_port_of_a_server_is_not_believed(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    first, second = (serve(name=f"algo-{n}") for n in (2, 3))
    trial = begin(dataset, [first.address, second.address])

    stranger: RunningServer | None = None
    while not trial.told(str(first.address), "went away"):
        for _ in trial:
            # nobody misses a server that never answered
            if stranger is None and trial.count("answered", "algo-2"):
                first.kill()
                stranger = serve(
                    name="stranger",
                    port=first.address.port,
                    secret=bytes(32),
                )
    assert stranger is not None
    # While the loader is open: it asks that port again after a pause, and judge() closes it.
    said = stranger.next_event()
    for _ in trial:
        pass

    trial.judge()
    assert {server for server, _ in trial.holders()} == {"algo-2", "algo-3"}
    assert "did not prove that it holds this job's secret" in said
    assert not stranger.events.poll(0)


@pytest.mark.parametrize(
    "said",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4, b"SMTC" + bytes(96), b""],
    ids=["http", "zeros", "nothing"],
)
def test_something_else_on_the_port_of_a_server_disturbs_nobody(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial], said: bytes
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    first, second = (serve(name=f"algo-{n}") for n in (2, 3))
    trial = begin(dataset, [first.address, second.address])
    heard = threading.Event()

    def answer(listener: socket.socket) -> None:
        for _ in itertools.count():
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            heard.set()
            with peer:
                peer.sendall(said)

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thread = threading.Thread(target=answer, args=(listener,))
        while not trial.told(str(first.address), "went away"):
            for _ in trial:
                # nobody misses a server that never answered
                if not thread.is_alive() and trial.count("answered", "algo-2"):
                    first.kill()
                    listener.bind((first.address.host, first.address.port))
                    listener.listen()
                    thread.start()
        assert heard.wait(PATIENCE_S)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()

    trial.judge()
