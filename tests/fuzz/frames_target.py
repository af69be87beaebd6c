"""What the fuzzer feeds: bytes of a hostile peer, up to the checked content of its messages."""

from __future__ import annotations

import contextlib
import functools
import resource
from collections import OrderedDict, UserDict
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil
import torch

from smtc_lab.dataservice.protocol import leaves, messages, wire
from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.receiver import ConnectionEndedError, Receiver
from smtc_lab.dataservice.protocol.segments import SharedFile, SharedViews
from smtc_lab.dataservice.protocol.wire import Kind, Message
from smtc_lab.dataservice.recipe.asking import asker_here
from smtc_lab.dataservice.recipe.opening import read_recipe
from smtc_lab.dataservice.recipe.packing import digest_of
from smtc_lab.dataservice.source import BatchPlace, StreamPlace
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Sequence

PAYLOAD_LIMIT = 2**20
"""The longest payload while fuzzing, in bytes."""

_MEMORY_LIMIT = 2**30
_SHARED_BYTES = 2**20
_ONLY_DESCRIPTION = 1
_MOST_PORTIONS = 4096


class Point(NamedTuple):
    """A named tuple of the script."""

    x: int
    y: object


@dataclass
class Sample:
    """A dataclass of the script."""

    x: int
    y: object


class Bytes:
    """A connection over which these bytes come, so many at a time, and then its end."""

    def __init__(self, data: bytes, at_once: int) -> None:
        self._data = memoryview(data)
        self._at_once = at_once

    def fileno(self) -> int:
        """Nothing waits for it."""
        return -1

    def receive_into(self, views: Sequence[memoryview]) -> int:
        """Receive the next bytes."""
        received = 0
        for view in views:
            count = min(view.nbytes, self._at_once - received, self._data.nbytes)
            view[:count] = self._data[:count]
            self._data = self._data[count:]
            received += count
        return received

    def send(self, buffers: Sequence[memoryview]) -> list[memoryview]:
        """Take everything."""
        del buffers
        return []

    def wake_at(self, nbytes: int) -> None:
        """Nothing waits for it."""


def limit_memory() -> None:
    """Let this process have a GiB more, and a payload ``PAYLOAD_LIMIT`` bytes, for good.

    Memory that is set aside for a length before it was checked is an error then, also where
    nobody writes to it.
    """
    wire.MAX_FRAME_BYTES = PAYLOAD_LIMIT
    leaves.MAX_LEAF_BYTES = PAYLOAD_LIMIT
    now_bytes = psutil.Process().memory_info().vms
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now_bytes + _MEMORY_LIMIT, hard))


def receive_hostile(data: bytes) -> None:
    """Read the messages of a peer that sends these bytes.

    The first byte says in which portions they come, and whether the rest is what a peer sends
    or only a description, around which the rest of a message is made: few mutations of a whole
    message leave its lengths right.

    Raises:
        Exception: Anything but ``ProtocolError`` is a defect, also that memory is lacking.
    """
    if not data:
        return
    how, rest = data[0], data[1:]
    stream = _message_around(rest) if how & _ONLY_DESCRIPTION else rest
    # A MiB a byte at a time would take seconds, and find nothing that fewer portions do not.
    at_once = max(how >> 1, len(stream) // _MOST_PORTIONS) if how >> 1 else len(stream)
    connection = Bytes(stream, at_once)
    views = SharedViews(_shared_file())
    views.unpickles = False  # a pickle may do anything; the network's are refused
    receiver = Receiver(connection, views)
    with contextlib.suppress(ProtocolError, ConnectionEndedError):
        while True:
            for frame in receiver.receive():
                _read(frame)


def seeds() -> list[bytes]:
    """Return inputs that hold real messages, whole and as descriptions only."""
    values = [
        (torch.arange(6.0).reshape(2, 3), torch.tensor([1, 2], dtype=torch.uint8)),
        {"array": np.arange(3), "scalar": np.float64(0.5), "text": np.array(["ab"])},
        [{1, 2}, range(3), Decimal("0.1"), torch.Size([2]), Sample(1, torch.ones(2))],
        [UserDict({"a": torch.ones(1)}), Kind.BATCH, np.array([None, "a"], dtype=object)],
        [_coo()],
        OrderedDict(bytes=b"abc", point=Point(1, ["a", None, True, 2**60, 0.1])),
    ]
    wants = messages.BatchRequest(place=BatchPlace(1, 2, 3), indices=[4, 5])
    part = replace(wants, place=StreamPlace(1, 2, 3, 4, 5), indices=None)
    hello = messages.Hello(host="h", data_worker=0, num_data_workers=2, pid=7)
    sent = [
        hello.pack(),
        replace(hello, before=EndedWorker(pid=6, exit_code=-9)).pack(),
        asker_here().pack(),
        wire.pack(Kind.WANT, 0, value=True),
        _recipe(),
        wants.pack(1),
        part.pack(1),
        *(wire.pack(Kind.BATCH, 2, one, busy_s=0.1) for one in values),
        wire.pack(Kind.BATCH, 3, values[0], share=lambda _: 65536),
        wire.pack(Kind.ERROR, 4, messages.failure_text(ValueError("why"), "algo-2")),
        wire.pack(Kind.END, 5, None),
        replace(wants, takes_pickle=True).pack(2),
        wire.pack(Kind.RELEASE, 0, [0, 65536]),
    ]
    whole = [b"".join(message) for message in sent]
    return [
        *(bytes([how]) + stream for stream in [*whole, b"".join(whole)] for how in (0, 14)),
        *(bytes([_ONLY_DESCRIPTION]) + _description(message[0]) for message in sent),
    ]


def _recipe() -> list[memoryview]:
    """Return a message that brings what a loader needs; its bytes are zeros, as any payload
    is that is made around a description."""
    body, memory = bytes(8), bytes(24)
    digest = digest_of(body, [memoryview(memory)])
    parts = [np.frombuffer(part, np.uint8) for part in (body, memory)]
    return wire.pack(Kind.RECIPE, 0, [digest.hex(), [["/data", 7]], *parts])


def _coo() -> torch.Tensor:
    return torch.sparse_coo_tensor(
        torch.tensor([[0, 2]]), torch.ones(2), (3,), check_invariants=True
    )


def _description(begin: memoryview) -> bytes:
    """Return the kind and the description of a message that begins with these bytes."""
    _, _, kind, *_ = wire.HEADER.unpack(begin[: wire.HEADER.size])
    return bytes([kind, *begin[wire.HEADER.size :]])


def _message_around(kind_and_text: bytes) -> bytes:
    """Return the message that begins with this kind and has this description."""
    kind, text = kind_and_text[:1], kind_and_text[1:]
    try:
        payload_bytes = wire.read_description(text).payload_bytes
    except ProtocolError:
        payload_bytes = 0
    header = wire.HEADER.pack(
        wire.MAGIC, wire.VERSION, int.from_bytes(kind), 1, 0, 0, len(text), payload_bytes
    )
    return header + text + bytes(min(payload_bytes, PAYLOAD_LIMIT))


def _read(frame: Message) -> None:
    """Read a message as the side does that gets it."""
    if frame.kind is Kind.HELLO:
        messages.Hello.read(frame)
    elif frame.kind in {Kind.REQUEST, Kind.REQUEST_ANY}:
        messages.BatchRequest.read(frame)
    elif frame.kind is Kind.ASKER:
        messages.Asker.read(frame)
    elif frame.kind is Kind.RECIPE:
        read_recipe(frame)  # it is opened for peers only that hold the secret
    elif frame.kind is Kind.RELEASE:
        messages.read_release(frame)
    elif frame.kind is not Kind.WANT:  # which is true, or is not
        messages.read_answer(frame, server="algo-2")


@functools.cache
def _shared_file() -> SharedFile:
    file = SharedFile()
    file.grow(_SHARED_BYTES)
    return file
