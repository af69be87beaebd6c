"""The figures of ``notebooks/bench_tuning.ipynb``, with their goals."""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.tuning.halving import STEP_USD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

COST_MS = 5.0
SAVED_PERCENT = 50.0
EXPECTED_PERCENT = 15.0
INSIDE = 0.75
EQUAL = 0.01
"""Best losses that differ by less of themselves are equal: it is the noise of the curves."""
_SEEDS = 20


def figures_of(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of all parts that were measured."""
    found: list[BenchFigure] = []
    for what, make in _FIGURES.items():
        own = [row for row in rows if row["what"] == what]
        found += make(own) if own else ()
    return found


def _by_way(rows: Sequence[Row], key: str, of: str) -> dict[str, dict[int, float]]:
    """Return a number of each round or seed, by way."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row["way"], {})[row[key]] = row[of]
    return found


def _cost(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        own = [row for row in rows if row["strategy"] == strategy]
        taken = _by_way(own, "round", "cpu_ms")
        name = f"CPU of the tuner a trial, at {own[0]['trials']:,} trials: {strategy}"
        yield bench_figure(
            name,
            [each - taken["Optuna"][number] for number, each in taken["ours"].items()],
            unit="ms",
            better="lower",
            goal=COST_MS,
            peer="Optuna's own loop in memory",
        )
        for way, each in taken.items():
            yield bench_figure(
                f"{name}, all of it: {way}", list(each.values()), unit="ms", better="lower"
            )


def _kill(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    told = f"{len(rows)} seeds, {sum(row['kills'] for row in rows)} kills"
    for name in ("lost", "twice"):
        yield bench_figure(
            f"trials {name} after kill -9 of the tuner, {told}",
            [float(sum(row[name] for row in rows))],
            unit="trials",
            better="lower",
            goal=0.0,
        )
    yield bench_figure(
        f"suggestions identical to an unbroken search's, {told}",
        [mean(row["is_equal"] for row in rows)],
        unit="share",
        better="higher",
        goal=1.0,
    )


def _regret(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for function in dict.fromkeys(row["function"] for row in rows):
        own = [row for row in rows if row["function"] == function]
        found = _by_way(own, "seed", "regret")
        name = f"missed by the best of {own[0]['trials']} trials, {function}"
        for way, each in found.items():
            yield bench_figure(
                f"{name}: {way}", list(each.values()), unit="of its value", better="lower"
            )
        for num in dict.fromkeys((min(_SEEDS, len(found["ours"])), len(found["ours"]))):
            ours, theirs = ([each[seed] for seed in range(num)] for each in found.values())
            yield bench_figure(
                f"{name}, median of {num} seeds",
                [median(ours) / median(theirs)],
                unit="ratio",
                better="lower",
                goal=1.0,
                peer="Optuna's own loop",
            )


def _halving(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    full = {row["seed"]: row for row in rows if row["first"] is None}
    for first in dict.fromkeys(row["first"] for row in rows):
        if first is not None:
            pairs = [(row, full[row["seed"]]) for row in rows if row["first"] == first]
            yield from _saved(f"first rung at {first} of 81 values", pairs)


def _saved(told: str, pairs: Sequence[tuple[Row, Row]]) -> Iterator[BenchFigure]:
    everything = f"all {pairs[0][0]['trials']} trained fully"
    equal = [
        (halved, full)
        for halved, full in pairs
        if min(halved["losses"]) <= (1 + EQUAL) * min(full["losses"])
    ]
    if equal:
        yield bench_figure(
            f"trial steps saved by halving at an equal best loss, {len(equal)} of "
            f"{len(pairs)} seeds, {told}",
            [100 * (1 - halved["steps"] / full["steps"]) for halved, full in equal],
            unit="%",
            better="higher",
            goal=SAVED_PERCENT,
            peer=everything,
        )
    yield bench_figure(
        f"trial steps saved by halving, {told}",
        [100 * (1 - halved["steps"] / _steps_until(full, halved)) for halved, full in pairs],
        unit="%",
        better="higher",
        peer="trials trained fully until one is as good",
    )
    yield bench_figure(
        f"best loss of halving, {told}",
        [min(halved["losses"]) / min(full["losses"]) for halved, full in pairs],
        unit="ratio",
        better="lower",
        peer=everything,
    )


def _steps_until(full: Row, halved: Row) -> float:
    """Return the steps until a trial is as good as halving's best, the mean of all orders."""
    best, losses = min(halved["losses"]), full["losses"]
    as_good = sum(loss <= best for loss in losses)
    steps_each = full["steps"] / len(losses)
    return float(steps_each * (len(losses) + 1) / (as_good + 1))


def _budget(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    over = [row["spent_usd"] - row["budget_usd"] for row in rows]
    yield bench_figure(
        f"searches beyond their budget by more than the step of a look, of {len(rows)}",
        [float(sum(usd > STEP_USD for usd in over))],
        unit="searches",
        better="lower",
        goal=0.0,
    )
    yield bench_figure(
        f"spent beyond a budget in USD, worst of {len(rows)} searches",
        [max(100 * usd / row["budget_usd"] for usd, row in zip(over, rows, strict=True))],
        unit="%",
        better="lower",
    )
    yield bench_figure(
        f"of the budget spent, of {len(rows)} searches",
        [100 * row["spent_usd"] / row["budget_usd"] for row in rows],
        unit="%",
        better="higher",
    )


def _expected(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        off = [100 * abs(row["expected_usd"] / row["spent_usd"] - 1) for row in own]
        yield bench_figure(
            f"predicted spend, by the first three of {own[0]['trials']} trials: {kind}",
            off,
            unit="%",
            better="lower",
            goal=EXPECTED_PERCENT,
            peer="spent",
        )


def _priced(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    yield bench_figure(
        f"points launched inside the 80 % interval, of {len(rows)}",
        [mean(row["is_inside"] for row in rows)],
        unit="share",
        better="higher",
        goal=INSIDE,
    )
    yield bench_figure(
        "their predicted cost, distance",
        [100 * abs(row["usd"][1] / row["measured_usd"] - 1) for row in rows],
        unit="%",
        better="lower",
        peer="measured",
    )


_FIGURES: Mapping[str, Callable[[Sequence[Row]], Iterator[BenchFigure]]] = {
    "cost": _cost,
    "kill": _kill,
    "regret": _regret,
    "halving": _halving,
    "budget": _budget,
    "expected": _expected,
    "priced": _priced,
}
"""Figures by what their rows say they are."""
