"""Means over the steps of each rank by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.store.query import query, tells_of_communication

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

RANK_MEANS = ("step_time_s", "data_wait_s", "exposed_comm_s", "rank_wait_s")
"""What is averaged: step time, wait for data, exposed communication and wait for slower ranks,
in seconds."""


def rank_means(paths: Sequence[Path], first: int, end: int) -> NDArray[np.float64]:
    """Return means over some steps of each rank, shape (4, R), NaN where not known.

    Args:
        paths: Record files of R ranks.
        first: Number of the first step, from 0.
        end: Number of the step behind the last one.

    Raises:
        StoreError: A file is damaged or cannot be read.
    """
    tells = tells_of_communication(paths)
    selected = ", ".join(
        f"avg({name})" if tells or name not in COMMUNICATION_FIELDS else "NULL"
        for name in RANK_MEANS
    )
    sql = f"SELECT {selected} FROM step_record WHERE rowid > ? AND rowid <= ?"  # noqa: S608  our own names
    rows = [query([path], sql, (first, end))[0] for path in paths]
    return np.array(rows, dtype=np.float64).reshape(-1, len(RANK_MEANS)).T
