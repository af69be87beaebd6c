"""What ``make fuzz`` runs for minutes works, and notices defects."""

from __future__ import annotations

import resource
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.dataservice.protocol import leaves, messages, receiver, wire

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = runpy.run_path(str(Path(__file__).with_name("frames_target.py")))
SEEDS = TARGET["seeds"]()


@pytest.fixture
def read_kinds(monkeypatch: pytest.MonkeyPatch) -> list[wire.Kind]:
    """Return the kinds of all messages that are read to the end."""
    kinds: list[wire.Kind] = []
    receive = receiver.Receiver.receive

    def noting(self: receiver.Receiver) -> Any:
        for frame in receive(self):
            yield frame
            kinds.append(frame.kind)

    monkeypatch.setattr(receiver.Receiver, "receive", noting)
    return kinds


@pytest.fixture
def limited_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    for module, name in ((wire, "MAX_FRAME_BYTES"), (leaves, "MAX_LEAF_BYTES")):
        monkeypatch.setattr(module, name, getattr(module, name))  # undone after the test
    TARGET["limit_memory"]()
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_the_seeds_hold_messages_of_every_kind_that_are_read(
    read_kinds: list[wire.Kind],
) -> None:
    for seed in SEEDS:
        before = len(read_kinds)
        TARGET["receive_hostile"](seed)
        assert len(read_kinds) > before, seed

    assert set(read_kinds) == set(wire.Kind)


def test_a_reader_that_crashes_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(messages, "read_release")

    with pytest.raises(AttributeError, match="read_release"):
        TARGET["receive_hostile"](SEEDS[-1])


@pytest.mark.usefixtures("limited_memory")
def test_memory_that_is_set_aside_before_the_check_is_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_header = receiver.read_header
    set_aside: list[bytearray] = []

    def careless(header: memoryview) -> object:
        set_aside.append(bytearray(2**31))
        return read_header(header)

    TARGET["receive_hostile"](SEEDS[0])
    monkeypatch.setattr(receiver, "read_header", careless)

    with pytest.raises(MemoryError):
        TARGET["receive_hostile"](SEEDS[0])
