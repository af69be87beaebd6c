"""The samples of an instance as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.columns import SYSTEM_COLUMNS
from smtc_lab.store.query import numbers, query

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def read_samples(path: Path, after: int = 0) -> NDArray[np.float64]:
    """Return the samples of an instance behind so many, shape (9, N), NaN where not known.

    Args:
        path: Its record file; it may be growing, and may not be there yet.
        after: Number of samples to skip.

    Raises:
        StoreError: The file is damaged or cannot be read.
    """
    names = ", ".join(SYSTEM_COLUMNS)
    rows = query(
        [path],
        f"SELECT {names} FROM system_sample WHERE rowid > ? ORDER BY rowid",  # noqa: S608  our own names
        (after,),
    )
    return numbers(rows, len(SYSTEM_COLUMNS), [path])
