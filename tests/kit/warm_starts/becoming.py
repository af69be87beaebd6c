"""A forked process becomes what a command would have started."""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import linecache
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from smtc_lab.instance.forking import be_called, close_but_for
from tests.kit.warm_starts.inherited import be_deaf, encoding_of, standard_stream
from tests.kit.warm_starts.running import run_module
from tests.kit.warm_starts.told import told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.kit.warm_starts.parking import Parking
    from tests.kit.warm_starts.told import Told

_ABOVE = 512
"""What is given lies from here on until its place is free."""

_PR_SET_MM, _ARG_END, _ENV_END = 35, 9, 11
_START: Any = subprocess.Popen._execute_child  # type: ignore[attr-defined]  # noqa: SLF001  as Popen starts
_NAMES = signature(_START)
_ENDS = ("read", "write")
_WAITS = threading.Condition.wait.__code__


class Becoming:
    """What a process needs to become another one, noted before anything is forked.

    Args:
        parking: Holds the modules that were imported ahead.
    """

    def __init__(self, parking: Parking) -> None:
        self._parking = parking
        self._read = dict(os.environ)
        self._library = sys.path[1:]
        self._said = [encoding_of(each) for each in (sys.stdin, sys.stdout, sys.stderr)]
        self._streams: list[Any] = [sys.stdin, sys.stdout, sys.stderr]
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        self._arguments_at, _, self._variables_at, self._end = map(int, fields[45:49])
        self._registered: list[Any] = []
        plain = atexit.register

        def register(function: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401  any function
            self._registered.append(function)
            return plain(function, *given, **named)

        atexit.register = register  # type: ignore[assignment]  # as that one is called

    def fork_what_is_started(self) -> None:
        """Have ``subprocess`` fork this process in place of starting a module of ours."""
        self._registered.clear()  # what was imported ahead needs its own

        def start(popen: Any, *given: Any) -> None:  # noqa: ANN401  what Popen hands on
            values = _NAMES.bind(popen, *given).arguments
            described = told(values, self._read)
            interval_s = sys.getswitchinterval()
            try:
                if described is not None and _can_fork():
                    self._fork(popen, described, values)
                else:
                    _START(popen, *given)
            finally:
                sys.setswitchinterval(interval_s)

        subprocess.Popen._execute_child = start  # type: ignore[attr-defined]  # noqa: SLF001  see above

    def _fork(self, popen: Any, described: Told, values: Mapping[str, Any]) -> None:  # noqa: ANN401  see above
        hear, say = os.pipe2(os.O_CLOEXEC)
        try:
            pid = os.fork()
            if pid == 0:
                streams = [values[name] for name in ("p2cread", "c2pwrite", "errwrite")]
                self.become(described, streams, values["preexec_fn"], say=say)
            popen.pid, popen._child_created = pid, True  # noqa: SLF001  as Popen does
            popen._close_pipe_fds(  # noqa: SLF001  as above
                *(values[f"{pipe}{end}"] for pipe in ("p2c", "c2p", "err") for end in _ENDS)
            )
            os.close(say)
            say = -1
            if failed := os.read(hear, 4096):
                os.waitpid(pid, 0)
                raise subprocess.SubprocessError(failed.decode(errors="replace"))
        finally:
            os.close(hear)
            if say >= 0:
                os.close(say)

    def become(
        self,
        described: Told,
        streams: Sequence[int],
        prepare: Callable[[], object] | None = None,
        *,
        say: int,
        word: bytes = b"",
    ) -> NoReturn:
        """Become the process, and end with its exit code.

        Args:
            described: What it is told.
            streams: Descriptors for input, output and errors; -1: as they are.
            prepare: Called when it is placed, before descriptors are closed.
            say: Closed when it is ready, after ``word``, or after what went wrong.
            word: What it says when it is ready.
        """
        try:
            try:
                self._place(described, streams, prepare, say)
                self._be_new(described)
            except BaseException as error:  # noqa: BLE001  who waits must be told
                os.write(say, f"!{type(error).__name__}: {error}".encode())
                os._exit(255)
            if word:
                os.write(say, word)
            os.close(say)
            run_module(described.command[2])
        finally:
            os._exit(1)

    def _place(
        self,
        described: Told,
        streams: Sequence[int],
        prepare: Callable[[], object] | None,
        say: int,
    ) -> None:
        signal.set_wakeup_fd(-1)
        moved = [_above(each) if each >= 0 else -1 for each in streams]
        for number, descriptor in enumerate(moved):
            if descriptor >= 0:
                os.dup2(descriptor, number)
        if described.folder is not None:
            os.chdir(described.folder)
        if described.new_session:
            os.setsid()
        if described.group >= 0:
            os.setpgid(0, described.group)
        if prepare is not None:
            prepare()
        close_but_for({0, 1, 2, say, *described.passed})
        for number in described.passed:
            os.set_inheritable(number, True)

    def _be_new(self, described: Told) -> None:
        gc.freeze()  # garbage of who forked this one would close what is now another's
        be_deaf()
        self._show(described)
        os.environ.clear()
        os.environ.update(described.environment)
        time.tzset()
        self._streams += [sys.stdin, sys.stdout, sys.stderr]  # they may hold what is not said
        is_raw = bool(described.environment.get("PYTHONUNBUFFERED"))
        names = zip(("stdin", "stdout", "stderr"), self._said, strict=True)
        for number, (name, encoding) in enumerate(names):
            stream = standard_stream(number, name, encoding, is_raw=is_raw)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        sys.orig_argv = [*described.command]
        sys.argv = ["-m", *described.command[3:]]
        own = [os.path.abspath(each) for each in _python_path(described)]  # noqa: PTH100  as site does
        sys.path[:] = [os.getcwd(), *dict.fromkeys([*own, *self._library])]  # noqa: PTH109  as Python does
        for each in set(sys.path_importer_cache) - set(self._library):
            del sys.path_importer_cache[each]
        self._parking.park()
        for function in self._registered:
            atexit.unregister(function)
        self._registered.clear()
        linecache.clearcache()
        tempfile.tempdir = None
        random.seed()
        sys.setswitchinterval(0.005)
        be_called(os.path.basename(sys.executable))  # noqa: PTH119  a path is slow to make

    def _show(self, described: Told) -> None:
        """Let ``/proc`` show the command and the variables, as far as there is room."""
        arguments = b"".join(os.fsencode(each) + b"\0" for each in described.command)
        variables = b"".join(
            os.fsencode(f"{name}={value}") + b"\0"
            for name, value in described.environment.items()
        )
        libc = ctypes.CDLL(None)
        for begin, end, text, what in (
            (self._arguments_at, self._variables_at, arguments, _ARG_END),
            (self._variables_at, self._end, variables, _ENV_END),
        ):
            shown = text[: end - begin - 1]
            ctypes.memmove(begin, shown.ljust(end - begin, b"\0"), end - begin)
            place = begin + max(1, len(shown))
            libc.prctl(*map(ctypes.c_ulong, (_PR_SET_MM, what, place, 0, 0)))


def _can_fork() -> bool:
    """Return whether nothing is lost by a fork: no torch, and no thread that does anything.

    No other thread begins to, either, until the fork is done: it would need the interpreter.
    """
    sys.setswitchinterval(60.0)
    is_alone = len(os.listdir("/proc/self/task")) == len(sys._current_frames())  # noqa: PTH208, SLF001  a file of the kernel
    for _ in range(200):
        frames = dict(sys._current_frames())  # noqa: SLF001  there is no other way to know
        del frames[threading.get_ident()]
        if all(each.f_code is _WAITS for each in frames.values()):
            return is_alone and "torch" not in sys.modules
        time.sleep(0.001)  # nothing tells when it rests
    return False


def _above(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE)


def _python_path(described: Told) -> list[str]:
    path = described.environment.get("PYTHONPATH")
    return path.split(os.pathsep) if path else []
