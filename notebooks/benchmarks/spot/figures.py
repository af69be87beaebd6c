"""The figures of ``notebooks/bench_spot.ipynb``, with their goals."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

STALL_MS = {100: 70.0, 500: 350.0}
"""Most that a save may hold up, by the millions of bytes of the model."""

RESUME_S = 0.5
FORECAST_S = 0.2
FORMULA_PERCENT = 0.5
COST_PERCENT = 3.5
INSIDE = 0.85
OFF_S = 1.0
LATE_PERCENT = 10.0
UNIFORM_USD = 0.7
MEMORY_PERCENT = 2.0
_OURS = "session.checkpoint"


def figures_of(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of all parts that were measured."""
    found: list[BenchFigure] = []
    for what, make in _FIGURES.items():
        own = [row for row in rows if row["what"] == what]
        found += make(own) if own else ()
    return found


def _stall(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for mb in dict.fromkeys(row["mb"] for row in rows):
        by_way: dict[str, dict[int, float]] = {}
        for row in rows:
            if row["mb"] == mb:
                by_way.setdefault(row["way"], {})[row["round"]] = row["seconds"]
        for way, seconds in by_way.items():
            yield bench_figure(
                f"stall of a save of {mb} MB: {way}",
                [1e3 * each for each in seconds.values()],
                unit="ms",
                better="lower",
                goal=STALL_MS.get(mb) if way == _OURS else None,
            )
        for way in by_way.keys() - {_OURS}:
            yield bench_figure(
                f"stall of a save of {mb} MB",
                list(ratios(by_way[_OURS], by_way[way]).values()),
                unit="ratio",
                better="lower",
                peer=way,
            )


def _place(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    yield bench_figure(
        f"resume in the middle of an epoch of {rows[0]['samples']:,} samples",
        [row["seconds"] for row in rows],
        unit="s",
        better="lower",
        goal=RESUME_S,
    )


def _forecast(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for kind in dict.fromkeys(row["lifetimes"] for row in rows):
        of_kind = [row for row in rows if row["lifetimes"] == kind]
        first = of_kind[0]
        yield bench_figure(
            f"forecast of {first['futures']:,} futures, {first['policies']} policies: {kind}",
            [row["seconds"] for row in of_kind],
            unit="s",
            better="lower",
            goal=FORECAST_S,
        )


def _formula(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    yield bench_figure(
        "expected time by formula, worst of four rows",
        [max(100 * abs(row["formula_s"] / row["simulated_s"] - 1) for row in rows)],
        unit="%",
        better="lower",
        goal=FORMULA_PERCENT,
        peer="simulated jobs",
    )


def _trace(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for name in ("late_s", "weibull_late_s", "exponential_late_s"):
        how = "by its trace" if name == "late_s" else f"by {name.partition('_')[0]} lifetimes"
        yield bench_figure(
            f"when the latest 5 % end, {how}, worst of {len(rows)} zones",
            [max(100 * abs(row[name] / row["own_late_s"] - 1) for row in rows)],
            unit="%",
            better="lower",
            goal=LATE_PERCENT if name == "late_s" else None,
            peer="jobs played through the trace",
        )
    yield bench_figure(
        f"cost of uniform progress, mean of {len(rows)} zones",
        [mean(row["uniform_usd"] for row in rows)],
        unit="ratio",
        better="lower",
        goal=UNIFORM_USD,
        peer="on-demand",
    )
    yield bench_figure(
        "uniform progress in time, least of the zones",
        [min(row["in_time"] for row in rows)],
        unit="share",
        better="higher",
        goal=1.0,
    )


def _kills(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for kind in (*dict.fromkeys(row["kind"] for row in rows), None):
        own = [row for row in rows if kind in (None, row["kind"])]
        kills = sum(row["kills"] for row in own)
        equal = sum(row["kills"] for row in own if row["equal"])
        yield bench_figure(
            f"bit-equal after kill -9, of {kills}: {kind or 'all'}",
            [equal / kills if kills else 0.0],
            unit="share",
            better="higher",
            goal=1.0,
        )


def _fault(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for kind in (*dict.fromkeys(row["kind"] for row in rows), None):
        own = [row for row in rows if kind in (None, row["kind"])]
        lost = [row for row in own if not row["is_whole"] or row["found"] < row["least"]]
        yield bench_figure(
            f"checkpoints lost or half, of {len(own)}: {kind or 'all'}",
            [float(len(lost))],
            unit="checkpoints",
            better="lower",
            goal=0.0,
        )


def _memory(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    first, last = rows[0], rows[-1]
    yield bench_figure(
        f"memory after {last['saves']:,} saves",
        [100 * (last["bytes"] / first["bytes"] - 1)],
        unit="%",
        better="lower",
        goal=MEMORY_PERCENT,
        peer=f"after {first['saves']:,}",
    )


def _cost(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    taken = {
        way: {row["round"]: row["seconds"] for row in rows if row["way"] == way}
        for way in dict.fromkeys(row["way"] for row in rows)
    }
    never, saved = taken["never"], taken["as often as pays"]
    yield bench_figure(
        "steps with saves as often as pays, beyond steps without",
        [100 * (each - 1) for each in ratios(saved, never).values()],
        unit="%",
        better="lower",
        goal=COST_PERCENT,
        peer="no saves",
    )
    yield bench_figure(
        "of that, held up by saves",
        [100 * row["held_s"] / row["seconds"] for row in rows if row["saves"]],
        unit="%",
        better="lower",
        goal=COST_PERCENT,
    )


def _market(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for dilation in dict.fromkeys(row["dilation"] for row in rows):
        own = [row for row in rows if row["dilation"] == dilation]
        clock = "" if dilation == 1 else f", time dilation {dilation:g}"
        for name, times, goal in (
            ("is_inside", "its own times", INSIDE),
            ("is_inside_before", "times of a run before them all", None),
        ):
            yield bench_figure(
                f"runs under a market inside 5 to 95 %, of {len(own)}: {times}{clock}",
                [mean(row[name] for row in own)],
                unit="share",
                better="higher",
                goal=goal,
            )
    struck = [row for row in rows if row["interruptions"]]
    seen: dict[str, Callable[[Row], float]] = {
        "billed": lambda row: row["billed_s"] - row["seen_s"],
        "waiting": lambda row: row["waited_s"] - (row["lasted_s"] - row["seen_s"]),
    }
    for name, off_s in seen.items():
        if struck:
            yield bench_figure(
                f"{name} time, distance for each interruption, worst of {len(struck)} runs",
                [max(abs(off_s(row)) / row["interruptions"] for row in struck)],
                unit="s",
                better="lower",
                goal=OFF_S,
                peer="processes seen",
            )


_FIGURES: Mapping[str, Callable[[Sequence[Row]], Iterator[BenchFigure]]] = {
    "stall": _stall,
    "place": _place,
    "forecast": _forecast,
    "formula": _formula,
    "trace": _trace,
    "kills": _kills,
    "fault": _fault,
    "memory": _memory,
    "cost": _cost,
    "market": _market,
}
"""Figures by what their rows say they are."""
