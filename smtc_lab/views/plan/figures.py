"""Figures of a plan: time against cost of its clusters, and the stages of one of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from smtc_lab.planner.model.prediction import STAGES
from smtc_lab.views.figures.frame import empty_state, framed_figure, rendered, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.plan.axes import PlanAxes
from smtc_lab.views.plan.marks import PlannedMark, draw_mark, draw_run, key_samples, name_marks
from smtc_lab.views.plan.stages import draw_stages
from smtc_lab.views.plan.words import best_point, chart_note, prices_line
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.plan.info import PlanInfo

_ROW_IN = 0.42
_MOST_TICKS = 9


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
    shown = PlanAxes.of(plan)
    marks = [
        PlannedMark(point, time_s, usd)
        for point in plan.points
        if (time_s := shown.time(point)) is not None and (usd := shown.cost(point)) is not None
    ]
    if not marks:
        empty_state(axes, theme, "No cluster within the limits has a known price.")
        return
    front = [mark for mark in marks if mark.point.is_pareto]
    axes.plot(
        [mark.time_s.mean for mark in front],
        [mark.usd.mean for mark in front],
        color=theme.muted,
        linewidth=1,
        zorder=1,
    )
    for mark in reversed(marks):  # the fastest lies on top
        draw_mark(axes, mark, theme)
    runs = plan.measured if shown.is_of_steps else ()
    for run in runs:
        draw_run(axes, run, theme)
    name_marks(axes, [mark for mark in marks if mark.point.names], theme)
    shown.draw_limits(axes, plan, min(mark.time_s.low for mark in marks), theme)
    time_label, cost_label = shown.labels
    axes.set_xlabel(time_label)
    axes.set_ylabel(cost_label)
    priced = [mark.point for mark in front or marks]
    axes.set_title(f"Time against cost, predicted; {prices_line(priced)}")
    axes.margins(x=0.08, y=0.18)
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        # clusters differ by orders of magnitude, and ratios are what matters
        scale("log")
        low, high = axis.get_view_interval()
        axis.set_major_locator(FixedLocator(_round_numbers(low, high)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    limits, _ = axes.get_legend_handles_labels()
    axes.legend(
        handles=[*key_samples([mark.point for mark in marks], runs, theme), *limits],
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
