"""The figure of a spot forecast: when a job ends and what it costs, and what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from smtc_lab.planner.spot import words
from smtc_lab.views.figures.frame import NAME_COLUMNS, framed_figure, rendered, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.spot.result import SpotForecast
    from smtc_lab.views.figures.theme import Theme

_ROW_IN = 0.5
_BAND = 11.0
_SPREAD = 0.15
"""How far the outer of several runs of one policy are from its line, as a share of a row."""
_HOUR_S, _MINUTE_S = 3600.0, 60.0


def spot_figure(forecast: SpotForecast, *, theme: Theme = LIGHT) -> Figure:
    """Return when a job ends and what it costs under each policy.

    Args:
        forecast: With measured runs, which are drawn over the band of their policy, or without.
        theme: Colours and fonts.
    """
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=1.25 + _ROW_IN * len(forecast.policies),
            title=_title(forecast),
            subtitle=(
                words.about(forecast)[0],
                f"Bands: 5 to 95 % of {forecast.futures:,} futures, predicted. Hollow: means.",
            ),
        )
        left, right = figure.subplots(1, 2, sharey=True)
        factor, unit = _unit(forecast)
        _bands(left, forecast, "finish_s", factor, theme)
        _bands(right, forecast, "usd", 1.0, theme)
        left.set_xlabel(f"{unit} until the end")
        right.set_xlabel("USD")
        if forecast.deadline_s is not None:
            left.axvline(forecast.deadline_s / factor, color=theme.ink, linestyle=":")
        left.set_yticks(
            range(len(forecast.policies)),
            [fmt.plain(one.policy, NAME_COLUMNS) for one in forecast.policies],
        )
        left.set_ylim(len(forecast.policies) - 0.5, -0.5)
        left.legend(
            handles=_key(forecast, theme), loc="lower left", bbox_to_anchor=(0, 1), ncols=3
        )
    return figure


def write_spot_figure(forecast: SpotForecast, path: Path) -> None:
    """Write the figure of a forecast as PNG, or as SVG where the file is called so."""
    file_format: Any = "svg" if path.suffix == ".svg" else "png"
    path.write_bytes(rendered(spot_figure(forecast), LIGHT, file_format))


def _title(forecast: SpotForecast) -> str:
    if not forecast.measured:
        best = forecast.best
        return f"{best.policy}: ${best.usd.mean:,.2f}, {words.time(best.finish_s.mean)}"
    runs = forecast.measured
    one = runs[-1]
    ends = forecast.policy(one.policy).finish_s
    told = f"predicted {words.time(ends.low)} to {words.time(ends.high)}"
    if len(runs) > 1:
        return f"{forecast.num_held} of {len(runs)} runs ended as {told}"
    return f"{one.policy}: {told}, {one.evidence} {words.time(one.finish_s)}"


def _bands(axes: Axes, forecast: SpotForecast, name: str, factor: float, theme: Theme) -> None:
    """Draw the band of each policy, its mean, and the runs that were measured of it."""
    end = 0.0
    for place, one in enumerate(forecast.policies):
        mark = theme.mark(place)
        band: Interval = getattr(one, name)
        low, mean, high = (value / factor for value in (band.low, band.mean, band.high))
        runs = [run for run in forecast.measured if run.policy == one.policy]
        own = [getattr(run, name) / factor for run in runs]
        end = max(end, high, *own, 0.0)
        axes.plot(
            [low, high],
            [place, place],
            color=mark.color,
            alpha=0.35,
            linewidth=_BAND,
            solid_capstyle="butt",
        )
        axes.plot(
            mean,
            place,
            marker=mark.marker,
            markersize=7,
            markerfacecolor=theme.paper,
            markeredgecolor=mark.color,
            linestyle="none",
        )
        rows = np.linspace(-_SPREAD, _SPREAD, len(own)) if len(own) > 1 else np.zeros(len(own))
        axes.plot(own, place + rows, marker=mark.marker, color=mark.color, linestyle="none")
    axes.set_xlim(0, 1.05 * end or 1.0)
    axes.grid(visible=False, axis="y")


def _key(forecast: SpotForecast, theme: Theme) -> list[Line2D]:
    drawn = {"predicted": theme.paper}
    if forecast.measured:
        drawn |= {one.evidence: theme.ink for one in forecast.measured}
    marks = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markerfacecolor=face,
            markeredgecolor=theme.ink,
            label=label,
        )
        for label, face in drawn.items()
    ]
    if forecast.deadline_s is not None:
        marks.append(Line2D([], [], color=theme.ink, linestyle=":", label="deadline"))
    return marks


def _unit(forecast: SpotForecast) -> tuple[float, str]:
    longest_s = max(one.finish_s.high for one in forecast.policies)
    if longest_s >= 2 * _HOUR_S:
        return _HOUR_S, "hours"
    return (_MINUTE_S, "minutes") if longest_s >= 2 * _MINUTE_S else (1.0, "seconds")
