"""Two machines in small: network namespaces with a cable between them that can be unplugged."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class CannotMakeNamespacesError(Exception):
    """Why no namespaces can be made here."""


class Cable:
    """Two network namespaces, ``near`` and ``far``, joined by a pair of virtual devices.

    The names hold the process id and the devices live within the namespaces, so nothing outside
    them is touched. Use it as a context manager.

    Raises:
        CannotMakeNamespacesError: This needs the program ``ip`` and the right to use it.
    """

    near_address = "10.0.0.1"
    far_address = "10.0.0.2"

    def __init__(self) -> None:
        self.near, self.far = (f"smtc-test-{os.getpid()}-{end}" for end in ("near", "far"))

    def __enter__(self) -> Self:
        if shutil.which("ip") is None:
            raise CannotMakeNamespacesError("the program ip is not installed")
        try:
            for namespace in (self.near, self.far):
                _ip("netns", "add", namespace)
            _ip(
                "-n",
                self.near,
                *["link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns"],
                self.far,
            )
            for namespace, address in (
                (self.near, self.near_address),
                (self.far, self.far_address),
            ):
                _ip("-n", namespace, *f"address add {address}/24 dev wire".split())
                _ip("-n", namespace, *["link", "set", "lo", "up"])
                _ip("-n", namespace, *["link", "set", "wire", "up"])
        except subprocess.CalledProcessError as error:
            self.close()
            raise CannotMakeNamespacesError(error.stderr.strip()) from error
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove both namespaces, and with them their devices; safe twice."""
        for namespace in (self.near, self.far):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", namespace)

    def unplug(self) -> None:
        """Let no packet pass any more."""
        _ip("-n", self.near, *["link", "set", "wire", "down"])

    def plug(self) -> None:
        """Let packets pass again."""
        _ip("-n", self.near, *["link", "set", "wire", "up"])


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Put this thread, and what it starts meanwhile, into a namespace."""
    with (
        Path(f"/run/netns/{namespace}").open("rb") as there,
        Path("/proc/thread-self/ns/net").open("rb") as here,
    ):
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(here.fileno())


def _enter(descriptor: int) -> None:
    # Python has os.setns from 3.12 on.
    if _libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns failed")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=20)
