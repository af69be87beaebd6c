"""Reads a JSON document of any size member by member, in little memory."""

from __future__ import annotations

import codecs
import json
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK_BYTES = 1 << 16
_LONGEST_VALUE = 1 << 22
_SPACE = " \t\r\n"
_BEHIND_VALUES = frozenset(":,]}" + _SPACE)


class JsonStream:
    """Walks through the objects of a JSON document.

    ``members`` yields the names in an object; behind each of them the caller reads the value,
    with ``value``, or with ``members`` again.

    Args:
        source: The document, UTF-8, opened for bytes.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._place = 0
        self._is_over = False

    def members(self) -> Iterator[str]:
        """Yield the names in the object that begins here.

        Raises:
            ValueError: Here is no object, or it ends too early.
        """
        self._take("{")
        if self._next() == "}":
            self._take("}")
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise ValueError(f"a name was expected, but here is {str(name)[:40]!r}")  # noqa: TRY004  damaged, not a wrong type
            self._take(":")
            yield name
            if self._next() == ",":
                self._take(",")
                continue
            self._take("}")
            return

    def value(self) -> Any:  # noqa: ANN401  whatever JSON holds
        """Return the value that begins here.

        Raises:
            ValueError: It is damaged, or longer than 4 MiB.
        """
        self._next()
        while True:
            try:
                found, end = json.JSONDecoder().raw_decode(self._text, self._place)
            except ValueError:
                if self._is_over or len(self._text) - self._place > _LONGEST_VALUE:
                    raise
                self._read()
                continue
            # A number may go on where what is here ends: 0, 0. and 0.5.
            if not self._is_over and self._text[end : end + 1] not in _BEHIND_VALUES:
                self._read()
                continue
            self._place = end
            return found

    def skip(self) -> None:
        """Go past the value that begins here, objects of any size among them.

        Raises:
            ValueError: It is damaged.
        """
        if self._next() != "{":
            self.value()
            return
        for _ in self.members():
            self.skip()

    def _take(self, mark: str) -> None:
        found = self._next()
        if found != mark:
            raise ValueError(f"{mark!r} was expected, but here is {found or 'the end'!r}")
        self._place += 1

    def _next(self) -> str:
        """Return the next character that is not space, or nothing at the end."""
        while True:
            while self._place < len(self._text):
                if self._text[self._place] not in _SPACE:
                    return self._text[self._place]
                self._place += 1
            if self._is_over:
                return ""
            self._read()

    def _read(self) -> None:
        chunk = self._source.read(_CHUNK_BYTES)
        self._is_over = not chunk
        self._text = self._text[self._place :] + self._decode(chunk, final=self._is_over)
        self._place = 0
