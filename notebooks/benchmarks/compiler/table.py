"""What was measured, as a text for people."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from notebooks.benchmarks.compiler.ratios import ratios_to
from notebooks.benchmarks.compiler.set_ups import PLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.compiler.one_round import Row


def rows_table(rows: Sequence[Row]) -> str:
    """Return medians over the rounds: step time, ratio to plain eager, compile time, memory."""
    head = (
        f"{'model':<12} {'set-up':<22} {'ran':<9} {'CPU ms':>8} {'wall ms':>8} {'ratio':>7} "
        f"{'compile CPU s':>18} {'memory MB':>10}"
    )
    pairs = dict.fromkeys((row.model, row.set_up) for row in rows)
    return "\n".join([head, *(_line(*pair, rows) for pair in pairs)])


def _line(model: str, set_up: str, rows: Sequence[Row]) -> str:
    same = [row for row in rows if (row.model, row.set_up) == (model, set_up)]
    ratios = ratios_to(rows, model, set_up, PLAIN)
    memory = [row.peak_memory_bytes for row in same if row.peak_memory_bytes is not None]
    return (
        f"{model:<12} {set_up:<22} {'/'.join(sorted({row.backend for row in same})):<9} "
        f"{1000 * median(row.step_cpu_s for row in same):>8.1f} "
        f"{1000 * median(row.step_wall_s for row in same):>8.1f} "
        f"{f'{median(ratios.values()):.2f}' if ratios else 'unknown':>7} "
        f"{' '.join(f'{row.compile_cpu_s:.1f}' for row in same):>18} "
        f"{f'{median(memory) / 1e6:.0f}' if memory else 'unknown':>10}"
    )
