"""Reads what parity launches wrote: ``parity-rank<rank>.npz``."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import StoreError
from smtc_lab.metrics.parity import ParityTrace

if TYPE_CHECKING:
    from pathlib import Path

WEIGHT = "weight:"
"""Begin of the names of the arrays that hold final parameters."""


def read_parity_trace(path: Path) -> ParityTrace:
    """Return the trace of one trainer of a parity launch.

    Arrays only are read, never pickled objects.

    Raises:
        StoreError: The file is not there, is damaged, or its arrays do not belong together.
    """
    try:
        # Opened here, because numpy leaves a file open that is no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
        trace = ParityTrace(
            losses=found["losses"].astype(np.float64),
            names=tuple(str(name) for name in found["names"]),
            norms=found["norms"].astype(np.float64),
            weights={
                name.removeprefix(WEIGHT): values
                for name, values in found.items()
                if name.startswith(WEIGHT)
            },
        )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(
            f"The parity trace {str(path)!r} cannot be read ({error}). Look into the log of "
            "its launch, and check parity again."
        ) from error
    expected = (len(trace.losses), len(trace.names))
    if trace.losses.ndim != 1 or trace.norms.shape != expected:
        raise StoreError(
            f"The parity trace {str(path)!r} holds norms of shape {trace.norms.shape}, but "
            f"{expected[0]} losses and {expected[1]} parameters. Check parity again."
        )
    return trace
