"""What the TCP sockets of a process tree send and receive, told by the kernel.

``/proc/net/dev`` counts what every program on a machine sends. Linux also keeps the bytes of
each TCP socket (``tcp_info``), and answers for all of them at once through
``NETLINK_SOCK_DIAG``, with no privilege; the open files of a process tell which are its own.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_AND_DUMP = 0x301
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_INET_DIAG_INFO = 2
_NO_LISTENERS = 0xFFF & ~(1 << 10)  # a listener's queue is no traffic
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI48s")
_INODE = struct.Struct("=I")
_INODE_AT = 4 + 48 + 16
_ID_AT, _PORTS, _ADDRESSES = 4, 4, 32  # source and destination, of both
_MESSAGE_BYTES = 72
_ATTRIBUTE = struct.Struct("=HH")
_ACKED_AND_RECEIVED = struct.Struct("=QQ")
_ACKED_AT = 120  # tcpi_bytes_acked, tcpi_bytes_received: Linux 4.2 and newer
_STATE, _LISTENS, _INODE_COLUMN = 3, "0A", 9  # of /proc/net/tcp
_BUFFER_BYTES = 1 << 16
_TIMEOUT_S = 1.0


class SocketTraffic:
    """Bytes that processes have sent and received since the first look, over TCP.

    What one of them sends another one is left out, as it leaves no instance. A socket that is
    opened and closed between two looks is not seen, nor is what one that closes has carried
    since the last look.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}
        self._sent = 0
        self._received = 0

    def look(self, pids: Iterable[int]) -> tuple[int, int] | None:
        """Return the bytes received and sent so far; None: this machine does not tell.

        Args:
            pids: The processes that belong to the tree now.
        """
        own = _socket_inodes(pids)
        try:
            found = [each for each in _tcp_sockets() if each.inode in own] if own else []
        except OSError:  # a sandbox without netlink, or without this kind of it
            return None
        ends = {each.end for each in found}
        seen: dict[int, tuple[int, int]] = {}
        for each in found:
            if each.other_end in ends:
                continue
            before_sent, before_received = self._seen.get(each.inode, (0, 0))
            if each.sent < before_sent or each.received < before_received:
                before_sent = before_received = 0  # another socket has its number now
            self._sent += each.sent - before_sent
            self._received += each.received - before_received
            seen[each.inode] = (each.sent, each.received)
        self._seen = seen
        return self._received, self._sent


def one_listens(pids: Iterable[int]) -> bool:
    """Return whether one of some processes waits for TCP connections."""
    own = _socket_inodes(pids)
    for name in ("tcp", "tcp6"):
        with suppress(OSError), Path(f"/proc/net/{name}").open(encoding="ascii") as table:
            next(table)  # what its columns are
            for columns in map(str.split, table):
                if columns[_STATE] == _LISTENS and int(columns[_INODE_COLUMN]) in own:
                    return True
    return False


class _Socket(NamedTuple):
    inode: int
    end: bytes
    """Its ports and addresses, its own first."""
    other_end: bytes
    """Those that the socket on the other side has."""
    sent: int
    received: int


def _socket_inodes(pids: Iterable[int]) -> set[int]:
    found = set()
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208  hot path
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115  hot path
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return found


def _tcp_sockets() -> Iterator[_Socket]:
    """Yield all TCP sockets of this network namespace that the kernel counts bytes of.

    Raises:
        OSError: The kernel does not tell.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as netlink:
        netlink.settimeout(_TIMEOUT_S)
        for family in (socket.AF_INET, socket.AF_INET6):
            body = _REQUEST.pack(
                family, socket.IPPROTO_TCP, 1 << _INET_DIAG_INFO - 1, 0, _NO_LISTENERS, b""
            )
            length = _HEADER.size + len(body)
            head = _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _REQUEST_AND_DUMP, family, 0)
            netlink.sendto(head + body, (0, 0))
            yield from _answers(netlink)


def _answers(netlink: socket.socket) -> Iterator[_Socket]:
    while True:
        told = netlink.recv(_BUFFER_BYTES)
        at = 0
        while at + _HEADER.size <= len(told):
            length, kind, *_ = _HEADER.unpack_from(told, at)
            if kind == _NLMSG_DONE:
                return
            if kind == _NLMSG_ERROR:
                raise OSError("the kernel does not tell of TCP sockets")
            found = _socket_of(told[at + _HEADER.size : at + length])
            if found is not None:
                yield found
            at += (max(length, _HEADER.size) + 3) & ~3


def _socket_of(message: bytes) -> _Socket | None:
    (inode,) = _INODE.unpack_from(message, _INODE_AT)
    ports = message[_ID_AT : _ID_AT + _PORTS]
    addresses = message[_ID_AT + _PORTS : _ID_AT + _PORTS + _ADDRESSES]
    at = _MESSAGE_BYTES
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if kind == _INET_DIAG_INFO:
            info = message[at + _ATTRIBUTE.size : at + length]
            if len(info) < _ACKED_AT + _ACKED_AND_RECEIVED.size:
                return None
            sent, received = _ACKED_AND_RECEIVED.unpack_from(info, _ACKED_AT)
            return _Socket(
                inode=inode,
                end=ports + addresses,
                other_end=ports[2:] + ports[:2] + addresses[16:] + addresses[:16],
                sent=sent,
                received=received,
            )
        at += (max(length, _ATTRIBUTE.size) + 3) & ~3
    return None
