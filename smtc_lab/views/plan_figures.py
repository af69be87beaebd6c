"""Figures of a plan: time against cost of its clusters, and the stages of one of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from smtc_lab.planner.prediction import STAGES
from smtc_lab.views import format as fmt
from smtc_lab.views.frame import empty_state, framed_figure, rendered, styled
from smtc_lab.views.plan_stages import STAGE_COLORS, arms, draw_stages
from smtc_lab.views.plan_words import (
    STAGE_WORDS,
    best_point,
    chart_note,
    error_words,
    prices_line,
)
from smtc_lab.views.theme import LIGHT

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.views.plan_info import EstimateInfo, MeasuredInfo, PlanInfo, PointInfo
    from smtc_lab.views.theme import Theme

_SIZE = 62
_OUTLINES = {"predicted": "-", "extrapolated": (0, (2, 1.4))}
_ROW_IN = 0.42
_MOST_TICKS = 9
_HOMOGENEOUS, _HETEROGENEOUS = "o", "s"


def plan_figure(plan: PlanInfo, *, theme: Theme = LIGHT, framed: bool = True) -> Figure:
    """Return time against cost of all clusters, and below it the stages of the best one.

    Args:
        plan: The plan.
        theme: Colours and fonts.
        framed: Whether title, subtitle and notes are part of the figure; a page that says them
            in its own text leaves them out.
    """
    best = best_point(plan)
    bars_in = 0.0 if best is None else _ROW_IN * (len(STAGES) + 1) + 0.75
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=4.6 + bars_in,
            title=fmt.plain(plan.sentence) if framed else "",
            subtitle=_subtitle(plan) if framed else (),
        )
        if best is None:
            _pareto(figure.subplots(), plan, theme)
        else:
            chart, bars = figure.subplots(2, 1, height_ratios=(4.6, bars_in))
            _pareto(chart, plan, theme)
            draw_stages(bars, best, theme)
    return figure


def write_plan_figure(plan: PlanInfo, path: Path) -> None:
    """Write the figure of a plan to a file that ends in ``.png`` or ``.svg``."""
    file_format: Literal["png", "svg"] = "svg" if path.suffix == ".svg" else "png"
    path.write_bytes(rendered(plan_figure(plan), LIGHT, file_format))


def _subtitle(plan: PlanInfo) -> tuple[str, ...]:
    return tuple(filter(None, (plan.limits, plan.basis, chart_note(plan))))


def _pareto(axes: Axes, plan: PlanInfo, theme: Theme) -> None:
    points = [point for point in plan.points if point.usd_per_1000_steps is not None]
    if not points:
        empty_state(axes, theme, "No cluster within the limits has a known price.")
        return
    front = [point for point in points if point.is_pareto]
    axes.plot(
        [point.step_time_s.value for point in front],
        [_usd(point.usd_per_1000_steps) for point in front],
        color=theme.muted,
        linewidth=1,
        zorder=1,
    )
    for point in reversed(points):  # the fastest lies on top
        _mark(axes, point, theme)
    for run in plan.measured:
        _cross(axes, run, theme)
    _name_points(axes, [point for point in points if point.names], theme)
    axes.set_xlabel("seconds per step")
    axes.set_ylabel("USD per 1,000 steps")
    axes.set_title(f"Time against cost, predicted; {prices_line(front or points)}")
    axes.margins(x=0.08, y=0.18)
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        # clusters differ by orders of magnitude, and ratios are what matters
        scale("log")
        low, high = axis.get_view_interval()
        axis.set_major_locator(FixedLocator(_round_numbers(low, high)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.legend(
        handles=_key(plan, theme),
        loc="upper left",
        bbox_to_anchor=(-0.09, -0.14),
        ncols=3,
        handlelength=1.6,
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """Return round numbers in a range above 0, as dense as few enough allows."""
    first, last = (math.floor(math.log10(end)) for end in (low, high))
    found: list[float] = []
    for digits in ((1, 1.2, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        powers = range(first, last + 1)
        numbers = [digit * 10.0**power for power in powers for digit in digits]
        found = [number for number in numbers if low <= number <= high]
        if len(found) <= _MOST_TICKS:
            break
    return found


def _mark(axes: Axes, point: PointInfo, theme: Theme) -> None:
    color = theme.colors[STAGE_COLORS[point.bottleneck]]
    x, y = point.step_time_s, point.usd_per_1000_steps
    stands_out = point.is_pareto or bool(point.names)
    alpha = 1.0 if stands_out else 0.45
    if stands_out:
        axes.errorbar(
            x.value,
            _usd(y),
            xerr=arms(x),
            yerr=arms(y),
            color=color,
            linewidth=5,
            alpha=0.22,
            fmt="none",
            zorder=2,
        )
    axes.scatter(
        x.value,
        _usd(y),
        s=_SIZE if stands_out else _SIZE / 2,
        marker=_HETEROGENEOUS if point.is_heterogeneous else _HOMOGENEOUS,
        facecolors=theme.paper or "none",
        edgecolors=color,
        linestyles=[_OUTLINES[point.evidence]],
        linewidths=1.6,
        alpha=alpha,
        zorder=3,
    )


def _cross(axes: Axes, run: MeasuredInfo, theme: Theme) -> None:
    """Draw a run, solid, with its interval; joined to it what was predicted of it, hollow."""
    if run.usd_per_1000_steps is None:
        return
    x, y = run.step_time_s, run.usd_per_1000_steps
    marker = _HETEROGENEOUS if run.is_heterogeneous else _HOMOGENEOUS
    axes.plot(
        [run.predicted_s.value, x.value],
        [y.value * run.predicted_s.value / x.value, y.value],
        color=theme.ink,
        linestyle=":",
        linewidth=1.2,
        marker=marker,
        markersize=6,
        markerfacecolor=theme.paper or "none",
        zorder=4,
    )
    axes.errorbar(
        x.value,
        y.value,
        xerr=arms(x),
        yerr=arms(y),
        color=theme.ink,
        marker=marker,
        markersize=7,
        capsize=3,
        linewidth=1.2,
        zorder=5,
    )
    axes.annotate(
        f"{run.evidence}: {error_words(run)}",
        (x.value, y.value),
        xytext=(14, -38),
        textcoords="offset points",
        size=8.5,
        color=theme.ink,
        arrowprops={"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7},
        zorder=6,
    )


def _name_points(axes: Axes, points: list[PointInfo], theme: Theme) -> None:
    """Write what a point is known for above it, each on a line of its own."""
    for place, point in enumerate(sorted(points, key=lambda item: -item.step_time_s.value)):
        axes.annotate(
            ", ".join(point.names),
            (point.step_time_s.value, _usd(point.usd_per_1000_steps)),
            xytext=(12, 8 + 16 * place),
            textcoords="offset points",
            size=9.5,
            weight="bold",
            color=theme.ink,
            arrowprops={"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7},
            zorder=6,
        )


def _key(plan: PlanInfo, theme: Theme) -> list[Line2D]:
    """Return the samples of the key, of what is there."""
    points = [point for point in plan.points if point.usd_per_1000_steps is not None]
    own = theme.paper or "none"
    samples = [
        _sample(f"limited by {STAGE_WORDS[stage]}", theme.colors[STAGE_COLORS[stage]], own)
        for stage in STAGES
        if any(point.bottleneck == stage for point in points)
    ]
    for is_there, label, marker in (
        (False, "one kind of instance", _HOMOGENEOUS),
        (True, "with data instances", _HETEROGENEOUS),
    ):
        if any(point.is_heterogeneous == is_there for point in points):
            samples.append(_sample(label, theme.muted, own, marker))
    if any(point.evidence == "extrapolated" for point in points):
        samples.append(_sample("extrapolated", theme.muted, own, dashed=True))
    runs = dict.fromkeys(run.evidence for run in plan.measured)
    return samples + [_sample(evidence, theme.ink, theme.ink) for evidence in runs]


def _sample(
    label: str, color: str, face: str, marker: str = _HOMOGENEOUS, *, dashed: bool = False
) -> Line2D:
    return Line2D(
        [],
        [],
        label=label,
        color=color,
        marker="" if dashed else marker,
        markerfacecolor=face,
        markeredgewidth=1.6,
        linestyle=":" if dashed else "none",
    )


def _usd(value: EstimateInfo | None) -> float:
    return float("nan") if value is None else value.value
