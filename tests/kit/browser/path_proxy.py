"""A reverse proxy of one path, as stands in front of JupyterHub's servers, in its own process.

What lies below the path goes to the server behind it, all else is answered by a page that is no
Jupyter's. It is late, gives up on who is silent, and can be cut, as proxies and networks are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import asdict, dataclass

_PIECE_BYTES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Route:
    """What a proxy serves, and how badly."""

    path: str
    """What it passes on: this path and all below it. Ends with a slash."""

    port: int
    """Port of the server behind it, on loopback."""

    latency_s: float = 0.0
    """How late each byte is, in either direction."""

    idle_s: float | None = None
    """A connection over which the server says nothing for so long is closed; None: none is."""


def command(python: str, route: Route) -> list[str]:
    """Return the command line of a proxy.

    It tells what happens on its standard output, a JSON object a line, takes the words ``cut``
    and ``mend`` on its standard input, a line each, and ends when that is closed.
    """
    return [python, "-m", __name__, json.dumps(asdict(route))]


class _Proxy:
    def __init__(self, route: Route) -> None:
        self._route = route
        self._is_cut = False
        self._open: set[asyncio.StreamWriter] = set()
        self._num_sockets = 0

    async def run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        _tell(event="ready", port=server.sockets[0].getsockname()[1])
        words = await _lines_of_stdin()
        while word := await words.readline():
            self._is_cut = word.strip() == b"cut"
            if self._is_cut:
                for writer in self._open:
                    writer.transport.abort()
            _tell(event=word.decode().strip())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if not self._is_cut:
                head = await reader.readuntil(b"\r\n\r\n")
                await self._pass_on(head, reader, writer)
        except (OSError, EOFError):  # one side has gone
            pass
        finally:
            self._open.discard(writer)
            writer.transport.abort() if self._is_cut else writer.close()

    async def _pass_on(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        target = head.split(b" ", 2)[1].decode("latin-1")
        if not target.startswith(self._route.path):
            _tell(event="stray", path=target)
            _answer(writer, "404 Not Found")
            return
        try:
            behind, to_behind = await asyncio.open_connection("127.0.0.1", self._route.port)
        except OSError:
            _answer(writer, "503 Service Unavailable")
            return
        self._open.add(to_behind)
        number = self._note_socket(head, target)
        to_behind.write(_rewritten(head))
        both = [
            asyncio.create_task(self._pump(reader, to_behind)),
            asyncio.create_task(self._pump(behind, writer, idle_s=self._route.idle_s)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            self._open.discard(to_behind)
            to_behind.close()
            if number is not None:
                _tell(event="closed", number=number)

    def _note_socket(self, head: bytes, target: str) -> int | None:
        """Tell of a WebSocket, and return its number; None: it is none."""
        if b"\r\nupgrade: websocket\r\n" not in head.lower():
            return None
        self._num_sockets += 1
        path = target.split("?", 1)[0]
        _tell(event="opened", number=self._num_sockets, path=path)
        return self._num_sockets

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        idle_s: float | None = None,
    ) -> None:
        """Pass on what comes, each piece late, until there is no more."""
        late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def write() -> None:
            with contextlib.suppress(OSError):  # nobody reads any longer
                while (piece := await late.get())[1]:
                    await asyncio.sleep(piece[0] - _now_s())
                    writer.write(piece[1])
                    await writer.drain()

        writing = asyncio.create_task(write())
        data = b"begin"
        try:
            while data and not writing.done():
                data = b""
                with contextlib.suppress(OSError):  # too late, or cut: the end as well
                    data = await asyncio.wait_for(reader.read(_PIECE_BYTES), idle_s)
                late.put_nowait((_now_s() + self._route.latency_s, data))
            await writing
        finally:
            writing.cancel()


def _rewritten(head: bytes) -> bytes:
    """Return a request's head as a proxy sends it on: one connection for each request."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    is_socket = b"\r\nupgrade: websocket\r\n" in head.lower()
    if not is_socket:
        lines = [line for line in lines if not line.lower().startswith(b"connection:")]
        lines.append(b"Connection: close")
    lines += [b"X-Forwarded-For: 127.0.0.1", b"X-Forwarded-Proto: http"]
    return b"\r\n".join([first, *lines, b"", b""])


def _answer(writer: asyncio.StreamWriter, status: str) -> None:
    page = f"<!doctype html><title>{status}</title><p>The hub says: {status}".encode()
    writer.write(
        f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n"
        "Connection: close\r\n\r\n".encode()
        + page
    )


async def _lines_of_stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def _tell(**event: object) -> None:
    print(json.dumps(event), flush=True)  # noqa: T201  read by the process that started this one


if __name__ == "__main__":
    asyncio.run(_Proxy(Route(**json.loads(sys.argv[1]))).run())
