"""The figures of a GPU's rows."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.rounds import ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]


def gpu_figures(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of all parts, as far as they came.

    Args:
        rows: What the parts have added; those with a ``round`` count for medians.
    """
    figures = []
    for part, of_part in _by(rows, "part"):
        times: dict[str, dict[int, float]] = {}
        for set_up, of_set_up in _by(of_part, "set_up"):
            figures += _of_set_up(f"{part}, {set_up}", of_set_up)
            times[set_up] = {row["round"]: row["step_s"] for row in of_set_up if "round" in row}
        first, *others = times
        for other in others:
            values = list(ratios(times[first], times[other]).values())
            if values:
                name = f"{part}: {other}, speed-up"
                figures.append(
                    bench_figure(name, values, unit="times", better="higher", peer=first)
                )
    return figures


def _of_set_up(name: str, rows: Sequence[Row]) -> list[BenchFigure]:
    rounds = [row for row in rows if "round" in row]
    batch_size = next((row["batch_size"] for row in rows if "batch_size" in row), None)
    figures = []
    if rounds:
        times_ms = [1000 * row["step_s"] for row in rounds]
        figures.append(bench_figure(f"{name}: step", times_ms, unit="ms", better="lower"))
        speeds = [row.get("samples_per_s") or batch_size / row["step_s"] for row in rounds]
        unit = "samples/s"
        figures.append(bench_figure(f"{name}: speed", speeds, unit=unit, better="higher"))
    for key, what, unit, factor in (
        ("waiting_fraction", "waiting for batches", "fraction of the step", 1.0),
        ("compile_s", "compilation", "s", 1.0),
        ("peak_memory_bytes", "peak memory", "GiB", 2.0**-30),
    ):
        values = [factor * row[key] for row in rows if row.get(key) is not None]
        if values:
            figures.append(bench_figure(f"{name}: {what}", values, unit=unit, better="lower"))
    return figures


def _by(rows: Sequence[Row], key: str) -> list[tuple[str, list[Row]]]:
    """Return the rows by what they have for a key, in the order in which that first came."""
    order = list(dict.fromkeys(row[key] for row in rows))
    ordered = sorted(rows, key=lambda row: order.index(row[key]))
    return [(name, list(group)) for name, group in groupby(ordered, key=lambda row: row[key])]
