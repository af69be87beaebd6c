"""Measurements in processes of their own, so that no library disturbs another one's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT = Path(__file__).parents[3]
"""Where any interpreter finds the package, the benchmarks and the kit."""

_SHOWN_CHARACTERS = 2000


def python_path() -> str:
    """Return ``PYTHONPATH`` of a process that runs a benchmark."""
    return os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))


def measured(
    what: str,
    *arguments: str,
    python: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
) -> Any:  # noqa: ANN401  whatever was printed
    """Return the JSON that a fresh process prints last; libraries may print before.

    Args:
        what: What is measured, for messages.
        arguments: Those of the interpreter: ``-m`` and a module, or ``-c`` and a program.
        python: The interpreter; None: this one.
        environment: Variables beside this process's own.
        limit_s: Time after which it is ended, in seconds; None: there is none.

    Raises:
        RunFailedError: The process failed, with the end of what it wrote to stderr, or took
            longer than the limit.
    """
    try:
        ended = subprocess.run(  # noqa: S603  our own modules and programs
            [python or sys.executable, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            env={**os.environ, "PYTHONPATH": python_path(), **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        raise RunFailedError(
            f"The measurement of {what} took more than {limit_s} s. Use a machine with less "
            "load."
        ) from None
    if ended.returncode:
        raise RunFailedError(
            f"The measurement of {what} ended with exit code {ended.returncode}: "
            f"{ended.stderr[-_SHOWN_CHARACTERS:]}"
        )
    return json.loads(ended.stdout.splitlines()[-1])
