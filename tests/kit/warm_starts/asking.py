"""Asks the server of warm starts for the processes that this one starts."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.kit.warm_starts.server import AHEAD, ROOM
from tests.kit.warm_starts.told import told
from tests.kit.warm_starts.worth import is_worth_forking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.kit.warm_starts.told import Told

ROOT = Path(__file__).parents[3]

_POPEN: Any = subprocess.Popen
_START = _POPEN._execute_child  # noqa: SLF001  what starts
_POLL = _POPEN._internal_poll  # noqa: SLF001  what asks for an end, and does not wait
_WAIT = _POPEN._try_wait  # noqa: SLF001  what waits for it
_NAMES = signature(_START)

_ARGUMENTS_ROOM, _VARIABLES_ROOM = 16 << 10, 100 << 10
_ALONE = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""What is forked must have one thread; it is told its number when it has become what it is."""


class WarmStarts:
    """Starts modules of ours warm, until it is closed; the rest as ``subprocess`` does.

    Args:
        ahead: Modules that the server imports.
    """

    def __init__(self, ahead: Sequence[str] = AHEAD) -> None:
        self.is_on = True
        """Whether what is started now may be warm."""
        self._ahead = ahead
        self._server: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        own = {"PYTHONPATH", "PYTHONUNBUFFERED"}
        self._read = {name: os.environ[name] for name in os.environ.keys() - own}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed with this
        self._owner = os.getpid()
        self._lock = threading.RLock()

        def start(popen: Any, *given: Any) -> None:  # noqa: ANN401  what Popen hands on
            self._start(popen, *given)

        _POPEN._execute_child = start  # noqa: SLF001  as above
        _POPEN._internal_poll = _poll  # noqa: SLF001  as above
        _POPEN._try_wait = _try_wait  # noqa: SLF001  as above

    @property
    def server_pid(self) -> int | None:
        """Number of the server; None: nothing was started warm yet."""
        return None if self._server is None else self._server.pid

    def close(self) -> None:
        """Start everything as ``subprocess`` does from now on, and end the server."""
        _POPEN._execute_child = _START  # noqa: SLF001  as above
        self._said.close()
        if self._server is not None and self._connection is not None:
            self._connection.close()
            self._server.kill()
            self._server.wait()

    def _start(self, popen: Any, *given: Any) -> None:  # noqa: ANN401  what Popen hands on
        values = _NAMES.bind(popen, *given).arguments
        if not self.is_on or os.getpid() != self._owner or values["preexec_fn"] is not None:
            _START(popen, *given)
            return
        with self._lock:
            if self._server is not None and self._server.poll() is not None:
                self._server = None  # another one will do
            described = told(values, self._read)
            if described is not None and not is_worth_forking(described.command):
                described = None
            if described is not None and self._server is None:
                self._serve()
        if described is None:
            _START(popen, *given)
            return
        streams = [values["p2cread"], values["c2pwrite"], values["errwrite"]]
        popen.pid, heard = self._ask(described, streams)
        popen._warm = heard  # noqa: SLF001  ours
        popen._warm_close = weakref.finalize(popen, os.close, heard)  # noqa: SLF001  ours
        popen._child_created = True  # noqa: SLF001  as Popen does
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        popen._close_pipe_fds(*(values[name] for name in ends))  # noqa: SLF001  as Popen does

    def _serve(self) -> None:
        own, its = socket.socketpair()
        room = {f"{ROOM}{number}": "x" * _VARIABLES_ROOM for number in range(2)}
        command = [sys.executable, "-m", "tests.kit.warm_starts.server", str(its.fileno())]
        command += [" ".join(self._ahead), "x" * _ARGUMENTS_ROOM]
        with its:
            self._server = subprocess.Popen(  # noqa: S603  our own module
                command,
                cwd=ROOT,
                env={**room, **self._read, **_ALONE},
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._said.fileno(),
                stderr=self._said.fileno(),
            )
        self._connection = own

    def _ask(self, described: Told, streams: list[int]) -> tuple[int, int]:
        """Return the number of a process, and where its end will be heard."""
        assert self._connection is not None  # noqa: S101  it is served
        described.asked_from.update(_own())
        hear, say = os.pipe2(os.O_CLOEXEC)
        asked = os.memfd_create("warm start")
        folder = os.open(described.folder or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.write(asked, json.dumps({**asdict(described), "folder": None}).encode())
            os.lseek(asked, 0, os.SEEK_SET)
            three = [each if each >= 0 else number for number, each in enumerate(streams)]
            given = [asked, say, folder, *three, *described.passed]
            with self._lock:
                socket.send_fds(self._connection, [b"?"], given)
        except BaseException:
            os.close(hear)
            raise
        finally:
            for each in (say, asked, folder):
                os.close(each)
        heard = os.read(hear, 4096)
        if (number := re.fullmatch(rb"\+([0-9]+)\n", heard)) is None:
            os.close(hear)
            self._said.seek(0)
            said = self._said.read()[-1000:].decode(errors="replace")
            why = heard.decode(errors="replace") or f"its server is gone, and said {said!r}"
            raise OSError(
                f"A warm start of {described.command[2]} failed: {why}. Set SMTC_LAB_COLD=1 to "
                "do without."
            )
        return int(number[1]), hear


def _own() -> dict[str, Any]:
    """Return what a child of this process would inherit."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    umask = re.search(r"^Umask:\s*([0-7]+)", status, re.MULTILINE)
    limits = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    ignored = [
        each for each in signal.valid_signals() if signal.getsignal(each) == signal.SIG_IGN
    ]
    return {
        "umask": int(umask[1], 8) if umask else 0o022,
        "limits": [[each, resource.getrlimit(each)] for each in sorted(set(limits))],
        "cores": sorted(os.sched_getaffinity(0)),
        "ignored": [*map(int, {*ignored} - {signal.SIGPIPE, signal.SIGXFSZ})],
    }


def _poll(popen: Any, *given: Any, **named: Any) -> int | None:  # noqa: ANN401  as Popen's
    if getattr(popen, "_warm", None) is None:
        code: int | None = _POLL(popen, *given, **named)
        return code
    if popen.returncode is None and popen._waitpid_lock.acquire(blocking=False):  # noqa: SLF001  Popen's
        try:
            if popen.returncode is None:
                pid, status = _try_wait(popen, os.WNOHANG)
                if pid == popen.pid:
                    popen._handle_exitstatus(status)  # noqa: SLF001  as Popen's own
        finally:
            popen._waitpid_lock.release()  # noqa: SLF001  as above
    result: int | None = popen.returncode
    return result


def _try_wait(popen: Any, flags: int) -> tuple[int, int]:  # noqa: ANN401  as Popen's
    hear = getattr(popen, "_warm", None)
    if hear is None:
        plain: tuple[int, int] = _WAIT(popen, flags)
        return plain
    poller = select.poll()
    poller.register(hear, select.POLLIN)
    if not poller.poll(0 if flags & os.WNOHANG else None):
        return 0, 0
    heard = os.read(hear, 64)
    popen._warm_close()  # noqa: SLF001  ours
    status = signal.SIGKILL  # where the server is gone
    with suppress(ValueError):
        status = int(heard)  # type: ignore[assignment]  # a status as waitpid has it
    return popen.pid, status
