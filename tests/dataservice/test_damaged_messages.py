"""Messages that were cut, changed or made up are refused, whatever they say."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.dataservice.protocol import wire
from smtc_lab.errors import ProtocolError
from tests.kit.wire import raw, received


class Point(NamedTuple):
    x: int
    y: Any


MESSAGE = raw(
    {"x": torch.arange(6.0).reshape(2, 3), "y": [np.arange(3), b"abc", Point(1, "ü")]}
)


@pytest.mark.parametrize("length", range(1, len(MESSAGE), 7))
def test_a_message_that_ends_too_early_is_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match=r"\d+ bytes too early"):
        received(MESSAGE[:length])


def header(
    *,
    magic: bytes = b"SMTC",
    version: int = wire.VERSION,
    kind: int = 3,
    json_bytes: int = 0,
    payload_bytes: int = 0,
) -> bytes:
    return wire.HEADER.pack(magic, version, kind, 0, 0, 0, json_bytes, payload_bytes)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header(magic=b"HTTP"), "begins with b'HTTP'"),
        (header(version=1), f"version 1, but must begin with .* version {wire.VERSION}"),
        (header(kind=99), "of kind 99"),
        (header(json_bytes=2**32 - 1), "announces 4294967295 and 0 bytes"),
        (header(payload_bytes=2**64 - 1), "announces 0 and 18446744073709551615 bytes"),
        (header(), "is not JSON"),
    ],
)
def test_a_header_that_is_not_ours_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        received(data)


@pytest.mark.parametrize(
    "text",
    [
        '["T","float32",-1]',
        '["T","float32",4611686018427387904,4]',
        '["T","float32",0,4611686018427387904]',
        '["T","float32",1.5]',
        '["T","float32",true]',
        '["T","object",1]',
        '["T",["float32"],1]',
        '["T"]',
        '["a","O",1]',
        '["a","|V8",1]',
        '["a","<f4,<f4",1]',
        '["s","<f99",1]',
        '["b",-1]',
        '["b"]',
        '["d",1]',
        '["d",["l"],1]',
        '["n","m","P",["a"],1,2]',
        '["n","m","P",["a b"],1]',
        '["n","m","P",["class"],1]',
        '["n","m","P",["a","a"],1,2]',
        '["n","m",3,["a"],1]',
        '["n"]',
        '["z"]',
        "[]",
        "[[]]",
        "{}",
        '{"a":1}',
        "[" * 60_000,
        '["l",' * 100 + "1" + "]" * 100,
        "[" * 900 + "]" * 900,
        "1" * 10_000,
        "nul",
        "\x00",
    ],
    ids=lambda text: text[:40],
)
def test_a_description_that_is_not_ours_is_refused(text: str) -> None:
    data = text.encode()

    with pytest.raises(ProtocolError):
        received(header(json_bytes=len(data)) + data)


def test_a_payload_that_does_not_fit_the_description_is_refused_before_it_is_read() -> None:
    data = b'["T","uint8",4]'

    with pytest.raises(ProtocolError, match="announces 4294967296 bytes, but describes 4"):
        received(header(json_bytes=len(data), payload_bytes=2**32) + data)


@settings(max_examples=150)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(MESSAGE) - 1), st.integers(0, 255)), min_size=1, max_size=4
    ),
    cut=st.integers(0, len(MESSAGE)),
)
def test_a_mutated_message_is_read_or_refused_but_never_a_crash(
    changes: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(MESSAGE)
    for position, byte in changes:
        data[position] = byte

    for damaged in (bytes(data), bytes(data[:cut])):
        try:
            frame = received(damaged)
        except ProtocolError as error:
            said = str(error)
        else:
            said = ""
            assert frame is None or frame.payload_bytes <= len(MESSAGE)
        assert len(said) < 500


@settings(max_examples=100)
@given(
    description=st.recursive(
        st.none() | st.integers() | st.text(max_size=3) | st.sampled_from(["float32", "<f4"]),
        lambda parts: st.builds(
            lambda tag, rest: [tag, *rest],
            st.sampled_from(["l", "t", "d", "o", "n", "T", "a", "s", "b"]),
            st.lists(parts, max_size=4),
        ),
        max_leaves=10,
    )
)
def test_a_made_up_description_is_read_or_refused_but_never_a_crash(description: Any) -> None:
    text = wire._to_json(description).encode()

    with contextlib.suppress(ProtocolError):
        received(header(json_bytes=len(text)) + text)
