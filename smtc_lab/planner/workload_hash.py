"""What makes two jobs the same workload."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import PlannerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def workload_hash(
    entry_point: str | Path, hyperparameters: Mapping[str, Any], arguments: Sequence[str] = ()
) -> str:
    """Return the hash of a script's text and what it is given, 16 hexadecimal digits.

    What the script imports is not part of it.

    Raises:
        PlannerError: The script cannot be read.
    """
    try:
        text = Path(entry_point).read_bytes()
    except OSError as error:
        raise PlannerError(
            f"The entry point {str(entry_point)!r} cannot be read ({error.strerror}). Correct "
            "the path."
        ) from error
    values = json.dumps(hyperparameters, sort_keys=True).encode()
    if arguments:
        values += b"\0" + json.dumps(list(arguments)).encode()
    return hashlib.sha256(text + b"\0" + values).hexdigest()[:16]
