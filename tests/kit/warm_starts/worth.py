"""Whether a process will import torch: one that does not is started sooner than forked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASKS_FOR_TORCH = re.compile(rb"\b(torch|lightning|transformers|accelerate|smtc_lab)\b")

_WITHOUT = {"smtc_lab.views.kept"}
"""Modules that never import it."""


def is_worth_forking(command: Sequence[str]) -> bool:
    """Return whether what a command starts imports torch, itself or in what it starts.

    Args:
        command: The interpreter, ``-m``, a module of ours and its arguments.
    """
    module, arguments = command[2], command[3:]
    if module in _WITHOUT or not arguments:
        return False
    asked = Path(arguments[0])
    if module == "smtc_lab.runtime.run_script":
        return _asks_for_torch(asked)
    if module == "smtc_lab.runtime.agent":
        return any(map(_asks_for_torch, _scripts([asked])))
    if module == "smtc_lab.launchers.supervision.supervisor":
        return any(map(_asks_for_torch, _scripts(asked.glob("instances/*/agent.json"))))
    return True


def _scripts(told: Sequence[Path] | Iterator[Path]) -> Iterator[Path]:
    for file in told:
        try:
            yield Path(json.loads(file.read_text(encoding="utf-8"))["command"][-1])
        except (OSError, ValueError, LookupError):
            continue


def _asks_for_torch(script: Path) -> bool:
    try:
        return _ASKS_FOR_TORCH.search(script.read_bytes()) is not None
    except OSError:
        return False
