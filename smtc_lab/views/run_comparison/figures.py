"""Figures of compared runs: one metric of all of them, and each run as a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from smtc_lab.errors import SpecError
from smtc_lab.views.figures.frame import NAME_COLUMNS, framed_figure, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.run_comparison.comparison import Along
from smtc_lab.views.run_comparison.shown import sentence
from smtc_lab.views.run_table.where import full_name
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.run_comparison.comparison import ComparedRun, RunComparison

_HEIGHT_IN = 3.6
_MOST_IN_LEGEND = 10
_LABELS = {
    "step": "step",
    "seconds": "seconds since the begin",
    "samples": "samples",
    "dollars": "USD, start-up included",
}


def metric_figure(
    compared: RunComparison, metric: str, along: Along, *, theme: Theme = LIGHT
) -> Figure:
    """Return one metric of all runs; runs that are not drawn are named.

    Raises:
        SpecError: No run logged it, or there is no such axis.
    """
    if along not in get_args(Along):
        raise SpecError(
            f"along={along!r} is no axis. Give one of {', '.join(get_args(Along))}."
        )
    curves = [run.curve(metric) for run in compared.runs]
    if not any(curves):
        known = ", ".join(compared.metrics[:20]) or "none"
        raise SpecError(f"No run has curves of the metric {metric[:80]!r}. They have: {known}.")
    with styled(theme):
        left_out = []
        lines = []
        for place, (run, curve) in enumerate(zip(compared.runs, curves, strict=True)):
            x = () if curve is None else curve.along(along, run.samples_per_step)
            if curve is None or not x:
                left_out.append(run)
            else:
                lines.append((place, run, x, curve))
        figure = _framed(compared, fmt.plain(metric, NAME_COLUMNS), left_out, theme)
        axes = figure.subplots()
        for place, run, x, curve in lines:
            mark = theme.mark(place)
            style: dict[str, Any] = {"color": mark.color, "linestyle": mark.line_style}
            xs = np.array(x, dtype=np.float64)
            label = fmt.plain(run.label, NAME_COLUMNS)
            axes.plot(xs, np.array(curve.value, dtype=np.float64), label=label, **style)
            if curve.low:
                low, high = (np.array(end, dtype=np.float64) for end in (curve.low, curve.high))
                axes.fill_between(xs, low, high, color=mark.color, alpha=0.15, linewidth=0)
        axes.set_xlabel(_LABELS[along])
        if 0 < len(lines) <= _MOST_IN_LEGEND:
            axes.legend(frameon=False)
    return figure


def scatter_figure(compared: RunComparison, x: str, y: str, *, theme: Theme = LIGHT) -> Figure:
    """Return each run as a point; runs that are not drawn are named.

    Raises:
        SpecError: No run has one of them as a number.
    """
    known = tuple(dict.fromkeys(name for run in compared.runs for name in run.numbers))
    across, up = full_name(x, known), full_name(y, known)
    with styled(theme):
        drawn = [run for run in compared.runs if {across, up} <= run.numbers.keys()]
        left_out = [run for run in compared.runs if run not in drawn]
        figure = _framed(
            compared, f"{fmt.plain(y, 40)} over {fmt.plain(x, 40)}", left_out, theme
        )
        axes = figure.subplots()
        for place, run in enumerate(compared.runs):
            if run in drawn:
                mark = theme.mark(place)
                at = run.numbers[across], run.numbers[up]
                axes.plot(*at, marker=mark.marker, color=mark.color, linestyle="none")
                label = fmt.plain(run.label, NAME_COLUMNS)
                axes.annotate(label, at, (5, 4), textcoords="offset points", size=8)
        axes.set_xlabel(fmt.plain(x, NAME_COLUMNS))
        axes.set_ylabel(fmt.plain(y, NAME_COLUMNS))
    return figure


def _framed(
    compared: RunComparison, title: str, left_out: Sequence[ComparedRun], theme: Theme
) -> Figure:
    names = ", ".join(fmt.plain(run.label, NAME_COLUMNS) for run in left_out[:5])
    more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
    return framed_figure(
        theme,
        height_in=_HEIGHT_IN,
        title=title,
        subtitle=(sentence(compared),),
        foot=f"Not drawn, as it is not known of them: {names}{more}." if left_out else "",
    )
