"""On which side of 1 plan and comparison put a pair of clusters; how far launches lie off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.table import text_table
from smtc_lab.metrics.result import Interval
from smtc_lab.views.plan.beside import TOLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Side = Literal[-1, 0, 1]
"""1: faster, or cheaper; -1: slower, or dearer; 0: the interval does not tell."""

_NAMES = {1: ("faster", "cheaper"), -1: ("slower", "dearer"), 0: ("?", "?")}


@dataclass(frozen=True, kw_only=True)
class JudgedPair:
    """What the plan and the comparison say of one pair, for time and for cost."""

    script: str
    """What is run."""

    cluster: str
    """What is compared with the lone trainer."""

    planned: tuple[Side, Side]
    """Sides of the plan: time, cost."""

    compared: tuple[Side, Side]
    """Sides of the comparison."""

    speedups: tuple[float, float]
    """Speed-up as planned and as compared."""

    savings: tuple[float, float]
    """Share of the cost that is saved, as planned and as compared."""

    @property
    def judged(self) -> list[bool]:
        """For each of time and cost that both tell, whether they tell the same."""
        return [
            one == other
            for one, other in zip(self.planned, self.compared, strict=True)
            if one and other
        ]


def judged_pairs(rows: Iterable[Mapping[str, Any]]) -> list[JudgedPair]:
    """Return the pairs of kept rows."""
    return [_judged(row["script"], pair) for row in rows for pair in row["pairs"]]


def _judged(script: str, pair: Mapping[str, Any]) -> JudgedPair:
    faster, saves = (Interval.model_validate(pair[name]) for name in ("faster", "saves"))
    planned = pair["planned_faster"], pair["planned_saves"]
    return JudgedPair(
        script=script,
        cluster=pair["cluster"],
        planned=(_side(planned[0], 1.0), _side(planned[1], 0.0)),
        compared=(faster.side_of(1.0), saves.side_of(0.0)),
        speedups=(planned[0]["mean"], faster.mean),
        savings=(planned[1]["mean"], saves.mean),
    )


def _side(ends: Mapping[str, float], value: float) -> Side:
    if ends["low"] <= value + TOLD and ends["high"] >= value - TOLD:
        return 0
    return 1 if ends["low"] > value else -1


def pair_figures(rows: Sequence[Mapping[str, Any]]) -> list[BenchFigure]:
    """Return sides, errors of step times and intervals of kept rows; nothing of no rows."""
    pairs = judged_pairs(rows)
    if not pairs:
        return []
    agree = [all(pair.judged) for pair in pairs]
    told = sum(len(pair.judged) for pair in pairs)
    launches = [each for row in rows for each in row["launches"] if each["measured_s"]]
    errors = [100 * abs(each["predicted_s"] / each["measured_s"] - 1) for each in launches]
    bias = [100 * (each["predicted_s"] / each["measured_s"] - 1) for each in launches]
    inside = [each["low_s"] <= each["measured_s"] <= each["high_s"] for each in launches]
    return [
        bench_figure("pairs", [len(pairs)], unit="pairs", better="higher", goal=20),
        bench_figure(
            f"pairs whose plan and comparison tell the same, {told} sides that both tell",
            [sum(agree)],
            unit="pairs",
            better="higher",
            goal=len(pairs),
        ),
        bench_figure(
            "emulated step time error of a launch, median",
            errors,
            unit="%",
            better="lower",
            goal=8,
        ),
        bench_figure(
            "emulated step time bias of a launch, median", bias, unit="%", better="lower"
        ),
        bench_figure(
            f"80 % intervals that hold an emulated launch, {len(launches)} launches",
            [sum(inside) / len(inside)],
            unit="share",
            better="higher",
            goal=0.75,
        ),
    ]


def pairs_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for each pair: both speed-ups and savings, and whether sides agree."""
    titles = ("script", "against", "speed-up", "compared", "saves", "compared", "")
    lines = [
        [
            pair.script,
            pair.cluster,
            f"{pair.speedups[0]:.2f}, {_NAMES[pair.planned[0]][0]}",
            f"{pair.speedups[1]:.2f}, {_NAMES[pair.compared[0]][0]}",
            f"{pair.savings[0]:.0%}, {_NAMES[pair.planned[1]][1]}",
            f"{pair.savings[1]:.0%}, {_NAMES[pair.compared[1]][1]}",
            "" if all(pair.judged) else "DIFFER",
        ]
        for pair in judged_pairs(rows)
    ]
    return text_table(titles, lines, names=2)


def launches_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for each launch: measured and predicted step time in cluster time."""
    titles = ("script", "cluster", "limit", "measured", "predicted", "80 % interval", "error")
    lines = [
        [
            row["script"],
            each["cluster"],
            each["bottleneck"],
            f"{1e3 * each['measured_s']:.1f} ms",
            f"{1e3 * each['predicted_s']:.1f} ms",
            f"{1e3 * each['low_s']:.1f} to {1e3 * each['high_s']:.1f}",
            f"{each['predicted_s'] / each['measured_s'] - 1:+.1%}",
        ]
        for row in rows
        for each in row["launches"]
    ]
    return text_table(titles, lines, names=3)
