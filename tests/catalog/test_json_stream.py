from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.catalog.json_stream import JsonStream

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DOCUMENTS = st.dictionaries(
    st.text(max_size=3),
    LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(), LEAVES, max_size=3),
    max_size=4,
)


class Pieces(io.BytesIO):
    """A source that hands out a few bytes at a time."""

    size = 3

    def read(self, _: int | None = -1, /) -> bytes:
        return super().read(self.size)


def stream_of(document: object) -> JsonStream:
    return JsonStream(Pieces(json.dumps(document, ensure_ascii=False, indent=1).encode()))


@given(document=DOCUMENTS)
@settings(max_examples=40)
def test_a_document_read_in_pieces_is_the_same(document: dict[str, Any]) -> None:
    stream = stream_of(document)

    assert {name: stream.value() for name in stream.members()} == document


@given(document=DOCUMENTS)
@settings(max_examples=40)
def test_a_value_that_is_skipped_is_gone_past_as_a_whole(document: dict[str, Any]) -> None:
    stream = stream_of({"skipped": document, "next": 5})
    names = stream.members()

    next(names)
    stream.skip()

    assert (next(names), stream.value()) == ("next", 5)


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", '{"a"', '{"a": 1', '{"a" 1}', '{"a": }', "{5: 1}"]
)
def test_a_damaged_document_is_refused(text: str) -> None:
    stream = JsonStream(io.BytesIO(text.encode()))

    with pytest.raises(ValueError, match=r"expected|Expecting"):
        _ = {name: stream.value() for name in stream.members()}
