"""The rounds and figures of ``notebooks/bench_scaling.ipynb``, with their goals."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.harness.table import text_table
from notebooks.benchmarks.scaling.measuring import declared
from smtc_lab.metrics.communication.collectives import ring_all_reduce_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

DECLARED_PERCENT = 2.0
ALL_REDUCE_PERCENT = 5.0
STEP_PERCENT = 8.0
HIDDEN = 0.8


def declared_rounds(
    *, ranks: Sequence[int], num_bytes: float, mbit_per_s: float, repeats: int, rounds: int
) -> Iterator[Row]:
    """Yield how long a bucket takes over a declared network, beside the declaration.

    Args:
        ranks: Numbers of trainers.
        num_bytes: Size of the bucket.
        mbit_per_s: Declared rate.
        repeats: Of each number in a round; their median counts.
        rounds: How many.
    """
    rate = mbit_per_s * 1e6 / 8
    for number in range(rounds):
        for each in in_turns(list(ranks), number):
            seconds = declared(
                ranks=each,
                num_bytes=num_bytes,
                latency_s=1e-4,
                bytes_per_s=rate,
                repeats=repeats,
            )
            wanted_s = ring_all_reduce_s(
                num_bytes, ranks=each, latency_s=1e-4, bytes_per_s=rate
            )
            yield {
                "round": number,
                "what": f"declared, {each} trainers",
                "seconds": median(seconds),
                "wanted_s": wanted_s,
            }


def figures_of(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how far a declared network is kept to, and how well two ranks predict."""
    for what in dict.fromkeys(row["what"] for row in rows):
        of_it = [row for row in rows if row["what"] == what]
        if what.startswith(("all-reduce of", "step of")):
            yield from _predicted_figures(what, of_it)
        else:
            yield bench_figure(
                f"distance of a bucket from its declaration, {what}",
                [100 * abs(row["seconds"] / row["wanted_s"] - 1) for row in of_it],
                unit="%",
                better="lower",
                goal=DECLARED_PERCENT,
            )


def _predicted_figures(what: str, rows: Sequence[Row]) -> Iterator[BenchFigure]:
    is_step = what.startswith("step of")
    yield bench_figure(
        f"error of the predicted {what}",
        [100 * abs(row["wanted_s"] / row["seconds"] - 1) for row in rows],
        unit="%",
        better="lower",
        goal=STEP_PERCENT if is_step else ALL_REDUCE_PERCENT,
    )
    if is_step:
        yield bench_figure(
            f"communication hidden, {what}",
            [row["hidden"] for row in rows],
            unit="ratio",
            better="higher",
            goal=HIDDEN if what.endswith("as advised") else None,
        )


def scaling_table(rows: Sequence[Row]) -> str:
    """Return each measurement beside what it should take."""
    return text_table(
        ["what", "round", "seconds", "declared or predicted"],
        [
            [row["what"], str(row["round"]), f"{row['seconds']:.4f}", f"{row['wanted_s']:.4f}"]
            for row in rows
        ],
        names=1,
    )
