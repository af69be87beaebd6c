"""Sockets that end with their process: none leaks into a fork, and a lost peer is noticed."""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import struct
import weakref

CONNECT_TIMEOUT_S = 2.0
"""Longest wait for a TCP connection."""

_PEER_TIMEOUT_MS = 8000
_SO_MAX_PACING_RATE = 47  # asm-generic/socket.h; Python has no name for it
_MOST_BYTES_PER_S = 2**32 - 2  # the next one means that nothing is held back

_closed_in_children: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def close_in_children(connection: socket.socket) -> socket.socket:
    """Close the socket in every process that this one forks from now on; return it.

    A forked process keeps all sockets open. The peers of a process that died would then wait
    for as long as its forks live.
    """
    _close_after_fork()
    _closed_in_children.add(connection)
    return connection


@functools.cache
def _close_after_fork() -> None:
    os.register_at_fork(after_in_child=_close_inherited)


def _close_inherited() -> None:
    for connection in list(_closed_in_children):
        connection.close()
    _closed_in_children.clear()


def tune_tcp(connection: socket.socket) -> None:
    """Send small messages at once, and notice a peer that is gone within about 8 s."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _PEER_TIMEOUT_MS)


def pace(connection: socket.socket, bytes_per_s: float) -> None:
    """Let a connection send so many bytes in a second at most, also over loopback."""
    rate = struct.pack("=I", int(min(max(bytes_per_s, 1), _MOST_BYTES_PER_S)))
    connection.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, rate)


def connect_tcp(host: str, port: int) -> socket.socket:
    """Return a connection to a server.

    Raises:
        OSError: The server cannot be reached within ``CONNECT_TIMEOUT_S``.
    """
    connection = socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_S)
    tune_tcp(connection)
    return close_in_children(connection)


def hang_up(connection: socket.socket) -> None:
    """End the connection for both sides, also where another process holds a copy of it.

    The socket itself stays open: its number must not be used again while a thread reads it.
    """
    with contextlib.suppress(OSError):
        # An SSLSocket's own method would leave the peers of other threads without their keys.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class StopFlag:
    """A flag that threads can wait for, and that is safe to set from a finalizer.

    ``threading.Event`` takes a lock, and a finalizer may run in the thread that holds it.
    """

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_set = False

    def __bool__(self) -> bool:
        return self._is_set

    def __del__(self) -> None:
        os.close(self._descriptor)

    def fileno(self) -> int:
        """Return a descriptor that is readable once the flag is set."""
        return self._descriptor

    def set(self) -> None:
        """Set the flag, for good."""
        if not self._is_set:
            self._is_set = True
            os.eventfd_write(self._descriptor, 1)

    def wait(self, timeout_s: float) -> bool:
        """Wait until the flag is set, at most ``timeout_s`` seconds; return whether it is."""
        if not self._is_set:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            poll.poll(timeout_s * 1000)
        return self._is_set


def wait_for_any(*flags: StopFlag) -> None:
    """Wait until one of the flags is set."""
    poll = select.poll()
    for flag in flags:
        poll.register(flag, select.POLLIN)
    poll.poll()
