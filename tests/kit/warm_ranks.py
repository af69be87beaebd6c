"""Rank processes that begin with torch imported, which takes each of them seconds otherwise.

They are forked from one process that has imported it and done nothing else: no thread, no
process group. A script that has to begin as a user's does is started by itself.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.context import ForkServerContext, ForkServerProcess

ROOT = Path(__file__).parents[2]

IMPORTED = [
    "torch",
    "torch._dynamo",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.distributed.pipelining",
    "torch.distributed.tensor.parallel",
    "tests.kit.warm_ranks",
]
"""Modules of torch alone: what of ours reads its environment has to be imported in a rank."""

_AT_IMPORT = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
"""What libraries read when they are loaded, and what keeps ranks on loopback."""


def run_script_on_ranks(
    script: Path,
    logs: Sequence[Path],
    *,
    variables: Sequence[Mapping[str, str]] = (),
    arguments: Sequence[Sequence[str]] = (),
    limit_s: float,
) -> list[int]:
    """Run a script once for each log, side by side, and return the exit codes.

    Args:
        script: The script, which runs as ``python script`` would, in its own folder.
        logs: Where standard output and errors of each rank go.
        variables: Variables of each rank, beside those of this process; empty: none.
        arguments: Arguments of each rank; empty: none.
        limit_s: How long they may take together, in seconds; what runs then is killed.
    """
    processes: list[ForkServerProcess] = []
    try:
        for rank, log in enumerate(logs):
            values = {**os.environ, **_AT_IMPORT, **(variables[rank] if variables else {})}
            given = list(arguments[rank]) if arguments else []
            process = _context().Process(target=_run, args=(script, given, values, log))
            _start(process)
            processes.append(process)
        end_s = _now_s() + limit_s
        for process in processes:
            process.join(max(0.0, end_s - _now_s()))
        if any(process.exitcode is None for process in processes):
            said = "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)
            raise TimeoutError(f"The ranks took longer than {limit_s:g} s. They said:\n{said}")
        return [process.exitcode or 0 for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.join()


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def _start(process: ForkServerProcess) -> None:
    """Start a process; with the first one the server, which imports torch."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with mock.patch.dict(os.environ, {**_AT_IMPORT, "PYTHONPATH": path}):
        process.start()


def _now_s() -> float:
    return os.times().elapsed


def _run(script: Path, arguments: list[str], variables: dict[str, str], log: Path) -> None:
    """Become what ``python script`` would be."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(script.parent)
    multiprocessing.set_start_method("fork", force=True)  # a fork server's child has its
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.parent)
    if str(ROOT) not in sys.path:
        sys.path.insert(1, str(ROOT))
    code = 0
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  it is printed, as Python prints it
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()  # noqa: SLF001  a process of multiprocessing ends without them
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
