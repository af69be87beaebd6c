"""Processes of one measurement that work together, and what they print."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.fresh import python_path
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence


def together(
    commands: Sequence[Sequence[str]], *, answering: int, limit_s: float = 240.0
) -> list[Any]:
    """Return the JSON that each of the first processes prints last; all are gone then.

    Each has one thread for its operations.

    Args:
        commands: One for each process.
        answering: How many of them, from the first, print and end; the others are ended.
        limit_s: For each answer, in seconds.

    Raises:
        RunFailedError: One ended without JSON.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": python_path(),
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    with contextlib.ExitStack() as stack:
        started = []
        for command in commands:
            process = subprocess.Popen(  # noqa: S603  our own modules
                command, stdout=subprocess.PIPE, text=True, env=environment
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        outputs = [process.communicate(timeout=limit_s)[0] for process in started[:answering]]
    try:
        return [json.loads(output.splitlines()[-1]) for output in outputs]
    except (IndexError, ValueError) as error:
        raise RunFailedError(
            f"A process of the measurement ended without a number ({error}). Look at what it "
            "printed above."
        ) from error
