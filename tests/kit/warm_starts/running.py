"""Runs a module as ``python -m`` does, in a process that was forked for it."""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import sys
import threading
import traceback
from contextlib import suppress
from types import ModuleType
from typing import NoReturn


def run_module(module: str) -> NoReturn:
    """Run a module as ``python -m`` does, and end with its exit code."""
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    code, killed_by = 0, None
    try:
        runpy._run_module_as_main(module)  # type: ignore[attr-defined]  # noqa: SLF001  what -m calls
    except SystemExit as ended:
        code = _exit_code(ended)
    except BaseException as error:  # noqa: BLE001  it is printed, as Python prints it
        code = 1
        killed_by = signal.SIGINT if isinstance(error, KeyboardInterrupt) else None
        _print(error)
    with suppress(Exception):
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001  as at any exit
    atexit._run_exitfuncs()  # noqa: SLF001  as at any exit
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            code = code or 120
    if killed_by is not None:
        signal.signal(killed_by, signal.SIG_DFL)
        os.kill(os.getpid(), killed_by)
    os._exit(code)


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        return ended.code & 0xFF
    print(ended.code, file=sys.stderr)  # noqa: T201  as Python does
    return 1


def _print(error: BaseException) -> None:
    """Print a traceback without the frame that is here."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, trace)
    else:
        sys.excepthook(type(error), error, trace)
