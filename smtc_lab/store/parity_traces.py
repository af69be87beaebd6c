"""Reads what parity launches wrote: ``parity-rank<rank>.npz``."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import open_beneath
from smtc_lab.metrics.parity_trace import ParityTrace

if TYPE_CHECKING:
    from pathlib import Path

WEIGHT = "weight:"
"""Begin of the names of the arrays that hold final parameters."""

_DAMAGES = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    EOFError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RuntimeError,  # an archive that wants a password
    SyntaxError,  # of the header of an array
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def read_parity_trace(path: Path) -> ParityTrace:
    """Return the trace of one trainer of a parity launch.

    Arrays only are read, never pickled objects.

    Raises:
        StoreError: The file is not there, is damaged, or its arrays do not belong together.
    """
    try:
        # Opened here, because numpy leaves a file open that is no archive.
        with open_beneath(path.parent, path) as file:
            _check_sizes(file)
            with np.load(file, allow_pickle=False) as arrays:
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
    except _DAMAGES as error:
        why = error.strerror if isinstance(error, OSError) else None  # others may quote it
        raise StoreError(
            f"The parity trace {str(path)!r} cannot be read ({why or 'it is damaged'}). Look "
            "into the log of its launch, and check parity again."
        ) from error
    expected = (len(trace.losses), len(trace.names))
    if trace.losses.ndim != 1 or trace.norms.shape != expected:
        raise StoreError(
            f"The parity trace {str(path)!r} holds norms of shape {trace.norms.shape}, but "
            f"{expected[0]} losses and {expected[1]} parameters. Check parity again."
        )
    return trace


def _check_sizes(file: BinaryIO) -> None:
    """Refuse an archive that unpacks to more than it is: ours are not compressed."""
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        if sum(part.file_size for part in archive.infolist()) > size:
            raise ValueError("it unpacks to more than it is")
    file.seek(0)
