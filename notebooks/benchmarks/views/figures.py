"""The figures of the benchmark of the views, with their goals."""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.harness.rounds import paired
from smtc_lab.views.widgets.base import built_front_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notebooks.benchmarks.views.scenario import Seen

_OURS = "smtc_lab"
_IMPORTS = 6


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One scenario of one round."""

    what: str
    """Name of the scenario."""

    library: str
    """Whose chart it was."""

    round: int
    """Number of the round."""

    seen: Seen
    """What was seen."""


def peer_figures(rows: Sequence[Measured]) -> list[BenchFigure]:
    """Return frames a second and latency of each library at each rate, ours against each."""
    figures = []
    by_what: dict[str, dict[str, dict[int, Seen]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        by_what[row.what][row.library][row.round] = row.seen
    for what, libraries in by_what.items():
        for library, by_round in libraries.items():
            seen = by_round.values()
            frames = [one.page.frames_per_s for one in seen]
            late_ms = [1000 * quantile(one.page.latency_s, 0.95) for one in seen]
            figures += [
                bench_figure(
                    f"{library}, {what}: frames", frames, unit="frames/s", better="higher"
                ),
                bench_figure(
                    f"{library}, {what}: latency p95", late_ms, unit="ms", better="lower"
                ),
                bench_figure(
                    f"{library}, {what}: updates made",
                    [one.kernel["updates_per_s"] for one in seen],
                    unit="updates/s",
                    better="higher",
                ),
            ]
            if library != _OURS and _OURS in libraries:
                ratios = paired(libraries[_OURS], by_round)
                figures += _ratio(what, library, [*ratios.values()])
    return figures


def dashboard_figure(name: str, seen: Sequence[Seen], *, goal: float) -> list[BenchFigure]:
    """Return frames a second of several live charts, and the tasks that held the page up."""
    return [
        bench_figure(
            f"{name}: frames",
            [one.page.frames_per_s for one in seen],
            unit="frames/s",
            better="higher",
            goal=goal,
        ),
        bench_figure(
            f"{name}: tasks over 50 ms",
            [one.page.long_tasks for one in seen],
            unit="tasks",
            better="lower",
            goal=0,
        ),
    ]


def flood_figures(
    name: str, seen: Sequence[Seen], *, cpu_goal_percent: float | None
) -> list[BenchFigure]:
    """Return how a chart and its kernel bear a flood of rows, and whether all arrived."""
    return [
        bench_figure(
            f"{name}: frames",
            [one.page.frames_per_s for one in seen],
            unit="frames/s",
            better="higher",
            goal=57,
        ),
        bench_figure(
            f"{name}: kernel CPU, making the rows included",
            [100 * one.kernel["cpu"] for one in seen],
            unit="% of a core",
            better="lower",
            goal=cpu_goal_percent,
        ),
        bench_figure(
            f"{name}: rows that arrived",
            [100 * (one.rows or 0) / one.kernel["rows"] for one in seen],
            unit="%",
            better="higher",
            goal=100,
        ),
    ]


def latency_figures(rounds_s: Sequence[Sequence[float]]) -> list[BenchFigure]:
    """Return the time from a step's end to the frame that shows it."""
    return [
        bench_figure(
            f"step's end to its point, p{round(100 * share)}",
            [1000 * quantile(latencies_s, share) for latencies_s in rounds_s],
            unit="ms",
            better="lower",
            goal=goal_ms,
        )
        for share, goal_ms in ((0.5, 150), (0.95, 300))
    ]


def change_figures(rounds_s: Sequence[Sequence[float]]) -> list[BenchFigure]:
    """Return the time from a change in a cluster's picture to what is predicted of it."""
    late_ms = [1000 * quantile(changes_s, 0.95) for changes_s in rounds_s]
    name = "change in the picture to its prediction, p95"
    return [bench_figure(name, late_ms, unit="ms", better="lower", goal=100)]


def opening_figures(openings_s: Mapping[str, Sequence[float]]) -> list[BenchFigure]:
    """Return the time from a cell's start, in a fresh kernel, to what it shows."""
    return [
        bench_figure(
            f"{what}: cell's start to its view", times_s, unit="s", better="lower", goal=1
        )
        for what, times_s in openings_s.items()
    ]


def size_figures() -> list[BenchFigure]:
    """Return what a page loads for a widget, and what importing the package takes."""
    script = gzip.compress(built_front_end("widget.js").encode(), mtime=0)
    imports_s = [_import_s() for _ in range(_IMPORTS)]
    return [
        bench_figure(
            "widget module, gzipped", [len(script) / 1000], unit="kB", better="lower", goal=110
        ),
        bench_figure("import smtc_lab", imports_s, unit="s", better="lower", goal=0.2),
    ]


def quantile(values: Iterable[float], share: float) -> float:
    """Return a quantile of some numbers.

    Raises:
        ValueError: There is none.
    """
    array = np.array(list(values))
    if array.size == 0:
        raise ValueError("No message arrived, so there is no latency. Look at the page.")
    return float(np.quantile(array, share))


def _import_s() -> float:
    program = (
        "import time; begin = time.perf_counter(); import smtc_lab; "
        "print(time.perf_counter() - begin)"
    )
    seconds: float = measured("an import", "-c", program)
    return seconds


def _ratio(what: str, peer: str, pairs: Sequence[tuple[Seen, Seen]]) -> list[BenchFigure]:
    """Return our frames a second over those of a peer; nothing: no round has both."""
    if not pairs:
        return []
    return [
        bench_figure(
            f"{_OURS}, {what}: frames",
            [mine.page.frames_per_s / other.page.frames_per_s for mine, other in pairs],
            unit="times",
            better="higher",
            goal=0.98,
            peer=peer,
        )
    ]
