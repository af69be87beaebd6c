"""A browser tab by hand: one stream of the server extension, and what its pages would know."""

from __future__ import annotations

import asyncio
import json
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from tornado.websocket import WebSocketClientConnection


@dataclass
class TabTable:
    """A table as a page keeps it."""

    columns: list[str]
    """Names of its columns."""

    first: int = 0
    """Number of the first row that is kept."""

    rows: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    """The rows, shape (C, N)."""

    gaps: int = 0
    """Times at which rows were missing, or came twice."""

    resets: int = 0
    """Times at which it came as a whole."""

    def column(self, name: str) -> list[float]:
        """Return one column."""
        values: list[float] = self.rows[self.columns.index(name)].tolist()
        return values


class Tab:
    """What one tab was sent."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self.values: dict[int, dict[str, Any]] = defaultdict(dict)
        """The values of each watch."""
        self.tables: dict[int, dict[str, TabTable]] = defaultdict(dict)
        """The tables of each watch."""
        self.parts: list[dict[str, Any]] = []
        """Rows that were asked for in detail: the contents of their messages."""
        self.problems: list[tuple[int | None, str]] = []
        """Watches that could not begin, and why."""
        self.rows: dict[str, dict[str, Any]] = {}
        """The list of runs."""
        self.num_bytes = 0
        """Bytes that came."""

    async def send(self, message: object) -> None:
        """Send a message as JSON."""
        await self._socket.write_message(json.dumps(message))

    async def watch(self, number: int, view: str, name: str = "") -> None:
        """Begin to watch."""
        await self.send({"type": "watch", "id": number, "view": view, "name": name})

    async def say(self, number: int, **content: object) -> None:
        """Send what a view would send."""
        await self.send({"type": "message", "id": number, "content": content})

    def close(self) -> None:
        """Close the stream, as a page that goes away does."""
        self._socket.close()

    async def until(self, holds: Callable[[Tab], object]) -> None:
        """Take messages until something holds.

        Raises:
            TimeoutError: It did not within ``PATIENCE_S`` of silence.
            ConnectionError: The server closed the stream.
        """
        while not holds(self):
            await self.take()

    async def take(self) -> int | None:
        """Take one message, and return the watch that it is about.

        Raises:
            TimeoutError: None came within ``PATIENCE_S``.
            ConnectionError: The server closed the stream.
        """
        message = await asyncio.wait_for(self._next(), PATIENCE_S)
        self.num_bytes += len(message)
        if isinstance(message, bytes):
            return self._take_rows(message)
        told = json.loads(message)
        if told["type"] == "problem":
            self.problems.append((told["id"], told["message"]))
            return None
        number: int = told["id"]
        values = told["values"]
        self.values[number] |= values
        if "runs" in values:
            self.rows = {}
        for row in [*values.get("runs", ()), *values.get("rows_changed", ())]:
            self.rows[row["name"]] = row
        for name in values.get("removed", ()):
            self.rows.pop(name, None)
        return number

    async def _next(self) -> str | bytes:
        message = await self._socket.read_message()
        if message is None:
            raise ConnectionError("The server closed the stream.")
        return message

    def _take_rows(self, message: bytes) -> int:
        number, content, buffers = parse_binary(message)
        if content["type"] == "part":
            self.parts.append(content)
            return number
        rows = np.frombuffer(buffers[0]).reshape(len(content["columns"]), -1)
        tables = self.tables[number]
        if content["type"] == "reset":
            before = tables.get(content["table"])
            tables[content["table"]] = TabTable(
                content["columns"],
                content["first"],
                rows,
                gaps=0 if before is None else before.gaps,
                resets=1 if before is None else before.resets + 1,
            )
            return number
        table = tables.setdefault(
            content["table"], TabTable(content["columns"], rows=rows[:, :0])
        )
        table.gaps += content["first"] != table.first + table.rows.shape[1]
        table.rows = np.concatenate([table.rows, rows], axis=1)
        return number


def parse_binary(message: bytes) -> tuple[int, dict[str, Any], list[bytes]]:
    """Return the watch, the content and the buffers of a message about a table."""
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    place = _aligned(4 + length)
    buffers = []
    for size in header["lengths"]:
        buffers.append(message[place : place + size])
        place = _aligned(place + size)
    return header["id"], header["content"], buffers


def _aligned(place: int) -> int:
    return -(-place // 8) * 8
