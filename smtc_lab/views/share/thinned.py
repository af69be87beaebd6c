"""Makes the curves of a saved result fewer numbers, as wider bins. No spike is lost."""

from __future__ import annotations

import math
from typing import Any

Row = list[float | None]

_FEWEST_BINS = 4


def can_be_thinned(tables: dict[str, Any]) -> bool:
    """Return whether a table has more bins than the fewest that still are a curve."""
    return any(_num_bins(curve) > _FEWEST_BINS for curve in tables.values())


def thinned(tables: dict[str, Any]) -> dict[str, Any]:
    """Return tables with half the bins, but for those that have few.

    Args:
        tables: ``CurveInfo`` as JSON values, by their names.
    """
    return {
        name: _halved(curve) if _num_bins(curve) > _FEWEST_BINS else curve
        for name, curve in tables.items()
    }


def _num_bins(curve: dict[str, Any]) -> int:
    return max(map(len, curve["mean"]), default=0)


def _halved(curve: dict[str, Any]) -> dict[str, Any]:
    """Return a curve whose bins are twice as wide; rows that were kept become bins."""
    mean: list[Row] = curve["mean"]
    rows, width = int(curve["num_rows"]), int(curve["width"])
    sizes = [min(width, rows - begin) for begin in range(0, rows, width)]
    return {
        "last": [row[-1] for row in mean],
        **curve,
        "width": 2 * width,
        "mean": [_means(row, sizes) for row in mean],
        "low": [_least(row) for row in curve.get("low", mean)],
        "high": [_greatest(row) for row in curve.get("high", mean)],
    }


def _pairs(row: Row) -> list[list[float]]:
    """Return the known values of each two neighbours."""
    return [
        [value for value in row[place : place + 2] if value is not None]
        for place in range(0, len(row), 2)
    ]


def _least(row: Row) -> Row:
    return [min(pair, default=None) for pair in _pairs(row)]


def _greatest(row: Row) -> Row:
    return [max(pair, default=None) for pair in _pairs(row)]


def _means(row: Row, sizes: list[int]) -> Row:
    """Return the mean of each two bins, weighted by their rows."""
    means: Row = []
    for place in range(0, len(row), 2):
        known = [
            (value, size)
            for value, size in zip(
                row[place : place + 2], sizes[place : place + 2], strict=False
            )
            if value is not None
        ]
        total = math.fsum(size for _, size in known)
        mean = math.fsum(value * size for value, size in known) / total if total else None
        means.append(None if mean is None else float(f"{mean:.6g}"))
    return means
