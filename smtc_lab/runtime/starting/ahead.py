"""What the processes of a run import, imported before they are forked.

An import of torch takes seconds of CPU time, which each of them would spend by itself.
"""

from __future__ import annotations

import atexit
import os
import random
import re
import sys
import threading
from contextlib import suppress

from smtc_lab.instance.forking import be_called, print_to
from smtc_lab.runtime import run_script
from smtc_lab.runtime.script.quick_start import start_quickly

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from collections.abc import Mapping
    from typing import NoReturn

_ASKS_FOR_TORCH = re.compile(
    rb"^\s*(?:import\s+(?:[^#\n]*,\s*)?|from\s+)"
    rb"(?:torch|lightning|pytorch_lightning|transformers|accelerate|smtc_lab)\b",
    re.MULTILINE,
)

_THREADS = "OMP_NUM_THREADS"

_SHARED_BY: dict[str, tuple[str, ...]] = {
    "shard": ("torch.distributed.fsdp",),
    "pipeline": ("torch.distributed.pipelining",),
    "tensor": ("torch.distributed.tensor.parallel",),
}
"""What else of torch a way to share the model imports."""


def import_ahead(script: str, layout: Mapping[str, int]) -> None:
    """Import what a script will; what cannot be imported fails there, where it is told.

    Args:
        script: The script, which is only looked at.
        layout: Trainers that share the model, by way, as a ``TrainerLayout`` has them.
    """
    try:
        with open(script, "rb") as file:  # noqa: PTH123  pathlib costs the start 10 ms
            asks = _ASKS_FOR_TORCH.search(file.read()) is not None
    except OSError:
        return
    if not asks:
        return
    run_script.look_beside(script)
    start_quickly()
    further = (names for way, names in _SHARED_BY.items() if layout.get(way, 1) > 1)
    for name in ["torch", *sum(further, ())]:
        with suppress(Exception):
            __import__(name)


def run_forked(
    script: str, arguments: list[str], *, environment: Mapping[str, str], log: str
) -> NoReturn:
    """Run a script in this process, which was forked for it, and end with its exit code.

    Args:
        script: The script.
        arguments: Its arguments.
        environment: All variables of this process.
        log: Where standard output and errors go.
    """
    code = 1
    try:
        had = os.environ.get(_THREADS)
        os.environ.clear()
        os.environ.update(environment)
        if environment.get(_THREADS) != had:
            _take_threads(environment[_THREADS])
        print_to(log)
        be_called(os.path.splitext(os.path.basename(log))[0])  # noqa: PTH119, PTH122  as above
        _draw_anew()
        code = run_script.main(script, arguments)
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001  as at any exit
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        atexit._run_exitfuncs()  # noqa: SLF001  as at any exit
        for file in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # the script has closed it
                file.flush()
        os._exit(code & 0xFF)  # without taking torch apart, which takes most of a second


def _take_threads(asked: str) -> None:
    """Have libraries compute with as many threads as their variables would have told them."""
    if torch := sys.modules.get("torch"):
        import threadpoolctl  # noqa: PLC0415  only where they differ from those imported with

        number = int(asked)
        threadpoolctl.threadpool_limits(number)
        torch.set_num_threads(number)


def _draw_anew() -> None:
    """Have each process draw random numbers of its own, as one that is started does."""
    random.seed()
    if numpy := sys.modules.get("numpy.random"):
        numpy.seed()
