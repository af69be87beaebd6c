"""What a part of the benchmark is asked for, and where its rows go."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, kw_only=True)
class Task:
    """One part of the benchmark."""

    part: str
    """Its name in rows and figures."""

    model: str
    """Name of a network, see ``notebooks.benchmarks.networks.models``."""

    size: str
    """``full`` or ``small``."""

    batch_size: int
    """Samples of a step."""

    backends: tuple[str, ...]
    """Backends to train it with, in turns."""

    device: str
    """``cuda`` or ``cpu``."""

    ends_s: float
    """When to begin no further round, in seconds since the epoch."""

    rows_file: str
    """Where rows are appended to, one JSON object a line."""

    def left_s(self) -> float:
        """Return the seconds until no further round is begun."""
        return self.ends_s - time.time()

    def add_row(self, **values: object) -> None:
        """Append a row of this part, so that it is there whatever comes next."""
        line = json.dumps({"part": self.part, **values}, allow_nan=False)
        with Path(self.rows_file).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def run_part(measure: Callable[[Task], None], arguments: Sequence[str]) -> None:
    """Measure as the arguments of this process say, then print what it ran on.

    Args:
        measure: Measures a part.
        arguments: The fields of a ``Task`` as one JSON object.
    """
    (text,) = arguments
    measure(Task(**json.loads(text)))
    sys.stdout.write(json.dumps(_device_facts()) + "\n")


def as_argument(task: Task) -> str:
    """Return a task as ``run_part`` reads it."""
    return json.dumps(asdict(task))


def _device_facts() -> dict[str, Any]:
    if not torch.cuda.is_available():
        return {"device": "cpu", "torch": torch.__version__}
    device = torch.cuda.get_device_properties(0)
    return {
        "device": device.name,
        "memory_bytes": device.total_memory,
        "compute_capability": f"{device.major}.{device.minor}",
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
    }
