"""What a process has from its start: streams, what signals do, limits."""

from __future__ import annotations

import io
import os
import resource
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def encoding_of(stream: Any) -> tuple[str, str]:  # noqa: ANN401  a stream
    """Return encoding and handling of errors of a standard stream."""
    return ("utf-8", "strict") if stream is None else (stream.encoding, stream.errors)


def standard_stream(number: int, name: str, said: tuple[str, str], *, is_raw: bool) -> Any:  # noqa: ANN401  a stream
    """Return a standard stream as Python makes it; None: it is closed."""
    try:
        os.fstat(number)
    except OSError:
        return None
    raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
    raw.name = f"<{name}>"
    binary: Any = raw
    if number == 0 or not is_raw:
        binary = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    encoding, errors = said
    stream: Any = io.TextIOWrapper(
        binary,
        encoding=encoding,
        errors=errors,
        newline="\n" if number else None,
        line_buffering=not is_raw and (number == 2 or raw.isatty()),
        write_through=is_raw,
    )
    stream.mode = "w" if number else "r"
    return stream


def be_deaf() -> None:
    """Give each signal what a program begins with; what is ignored stays ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) not in {signal.SIG_IGN, signal.SIG_DFL}:
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def inherit(asked_from: Mapping[str, Any]) -> None:
    """Take what a process inherits from who asked for it."""
    os.umask(asked_from["umask"])
    for number, limit in asked_from["limits"]:
        if resource.getrlimit(number) != tuple(limit):
            resource.setrlimit(number, tuple(limit))
    if (cores := set(asked_from["cores"])) != os.sched_getaffinity(0):
        os.sched_setaffinity(0, cores)
    for number in asked_from["ignored"]:
        signal.signal(number, signal.SIG_IGN)
