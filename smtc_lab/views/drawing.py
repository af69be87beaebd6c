"""Makes a mime bundle in a process of its own.

matplotlib's settings belong to the whole process, and a kernel's thread must not touch them
while a cell is drawing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import ViewError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LONGEST_S = 120.0


def drawn_by(module: str, folder: Path, *, refusal: Callable[[str], str]) -> dict[str, Any]:
    """Return the mime bundle that ``python -m MODULE FOLDER`` prints as JSON.

    Args:
        module: Name of the module.
        folder: What it reads.
        refusal: Returns the message of the error; called with what is known of its cause.

    Raises:
        ViewError: It could not be made.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own module
            [sys.executable, "-m", module, str(folder)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ViewError(refusal(str(error))) from error
    if done.returncode != 0:
        raise ViewError(refusal(done.stderr.strip()))
    bundle: dict[str, Any] = json.loads(done.stdout)
    return bundle
