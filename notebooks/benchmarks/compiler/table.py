"""What was measured, as a text for people."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from notebooks.benchmarks.compiler.ratios import ratios_to
from notebooks.benchmarks.compiler.set_ups import PLAIN
from notebooks.benchmarks.harness.table import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.compiler.one_round import Row


def rows_table(rows: Sequence[Row]) -> str:
    """Return medians over the rounds: step time, ratio to plain eager, compile time, memory."""
    titles = (
        "model",
        "set-up",
        "ran",
        "CPU ms",
        "wall ms",
        "ratio",
        "compile CPU s",
        "memory MB",
    )
    pairs = dict.fromkeys((row.model, row.set_up) for row in rows)
    return text_table(titles, [_line(*pair, rows) for pair in pairs], names=3)


def _line(model: str, set_up: str, rows: Sequence[Row]) -> list[str]:
    same = [row for row in rows if (row.model, row.set_up) == (model, set_up)]
    ratios = ratios_to(rows, model, set_up, PLAIN)
    memory = [row.peak_memory_bytes for row in same if row.peak_memory_bytes is not None]
    return [
        model,
        set_up,
        "/".join(sorted({row.backend for row in same})),
        f"{1000 * median(row.step_cpu_s for row in same):.1f}",
        f"{1000 * median(row.step_wall_s for row in same):.1f}",
        f"{median(ratios.values()):.2f}" if ratios else "unknown",
        " ".join(f"{row.compile_cpu_s:.1f}" for row in same),
        f"{median(memory) / 1e6:.0f}" if memory else "unknown",
    ]
