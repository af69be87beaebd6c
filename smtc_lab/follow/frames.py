"""Rows of a table as binary frames. ``extensions/protocol/src/frame.ts`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NotRequired

import numpy as np
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.store.steps.bins import Bins


class BinsHead(TypedDict):
    """Where the bins of a frame lie."""

    first: int
    """Number of the first row of the first bin."""

    width: int
    """Rows of each bin, above 1."""


class FrameHead(TypedDict):
    """What a frame says of its buffers."""

    type: Literal["rows", "reset", "part"]
    """``rows`` go behind those that are there, ``reset`` replaces all of them, ``part`` is
    what was asked for: it is looked at, not kept."""

    table: str
    """Name of the table."""

    columns: list[str]
    """Names of the columns."""

    first: int
    """Number of the first row in its table, from 0."""

    bins: NotRequired[BinsHead | None]
    """In a ``reset``, of the rows before ``first``, where they are too many to send; in a
    ``part``, of the rows that were asked for."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Rows of one table on their way to a browser."""

    type: Literal["rows", "reset", "part"]
    """``rows`` go behind those that are there, ``reset`` replaces all of them, ``part`` is
    what was asked for."""

    table: str
    """Name of the table."""

    columns: Sequence[str]
    """Names of the columns."""

    first: int
    """Number of the first row in its table, from 0."""

    rows: NDArray[np.float64]
    """The rows, shape (C, N); N may be 0."""

    bins: Bins | None = None
    """In a ``reset``, the rows before ``first``; in a ``part``, what was asked for."""

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the JSON and the buffers: little-endian float64, column after column."""
        content: FrameHead = {
            "type": self.type,
            "table": self.table,
            "columns": list(self.columns),
            "first": self.first,
        }
        buffers = [_bytes(self.rows)]
        if self.bins is not None:
            content["bins"] = {"first": self.bins.first, "width": self.bins.width}
            columns = np.concatenate([self.bins.low, self.bins.high, self.bins.mean])
            buffers.append(_bytes(columns))
        return {**content}, buffers


def _bytes(columns: NDArray[np.float64]) -> bytes:
    return np.ascontiguousarray(columns, dtype="<f8").tobytes()
