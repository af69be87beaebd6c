"""The static figure of one run: step time over its steps, and how busy its instances were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.launches import rolling_mean
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.run.words import host_names
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.run.interruptions import InterruptionInfo
    from smtc_lab.views.run.snapshot import RunSnapshot


def run_figure(run: RunSnapshot, *, subtitle: Sequence[str], theme: Theme = LIGHT) -> Figure:
    """Return step time over steps, and below it how busy CPUs and devices were over time.

    Args:
        run: The run.
        subtitle: What its numbers are, with its mean; one line each.
        theme: Colours and fonts.
    """
    state = fmt.plain(fmt.state_word(run.info.word))
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.6,
            title=f"Run {fmt.plain(run.info.job_name, 60)}: {state}",
            subtitle=[fmt.plain(line) for line in subtitle],
        )
        steps, busy = figure.subplots(2, 1, height_ratios=(3, 2))
        _draw_steps(steps, run, theme)
        _draw_busy(busy, run, theme)
    return figure


def _draw_steps(axes: Axes, run: RunSnapshot, theme: Theme) -> None:
    curve = run.steps
    if curve is None:
        empty_state(axes, theme, "This run recorded no step.")
        return
    mark = theme.mark(0)
    place = curve.columns.index("step_time_s")
    step, time_s = curve.column("step"), curve.mean[place]
    warm_up = run.info.summary.warm_up_steps if run.info.summary else 0
    if warm_up:
        axes.axvspan(-0.5, warm_up - 0.5, color=theme.shade, linewidth=0, zorder=0)
    for one in run.info.interruptions:
        place_x = max(0.0, one.step - 0.5)
        axes.axvline(place_x, color=theme.muted, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    if curve.width == 1:
        axes.plot(step, time_s, **mark.points())
    else:
        axes.fill_between(
            step, curve.low[place], curve.high[place], color=mark.color, alpha=0.2, linewidth=0
        )
    window = max(5, len(time_s) // 20) | 1
    axes.plot(step, rolling_mean(time_s, window), color=mark.color, linewidth=1.8, zorder=4)
    # a first step of seconds would press all others flat
    top_s = max(float(np.quantile(curve.high[place], 0.98)) * 1.15, 1e-9)
    axes.set_ylim(0, top_s)
    above = int((curve.high[place] > top_s).sum())
    note = f"   (some beyond {fmt.seconds(top_s)})" if above else ""
    axes.set_title(f"Step time, {run.info.evidence}{note}")
    axes.set_ylabel("step time (s)")
    lines = "; dashed: interruptions" if run.info.interruptions else ""
    axes.set_xlabel(f"step; shaded: warm-up{lines}")


def _draw_busy(axes: Axes, run: RunSnapshot, theme: Theme) -> None:
    if not run.hosts:
        empty_state(axes, theme, "No instance told what it used.")
        return
    for place, (name, host) in enumerate(host_names(run.info)):
        curve = run.hosts.get(host)
        if curve is None:
            continue
        mark = theme.part("cpu", place)
        axes.plot(
            *_broken(curve.column("time_s"), curve.column("cpu"), run.info.interruptions),
            color=mark.color,
            linestyle=mark.line_style,
            label=fmt.plain(name, NAME_COLUMNS),
        )
    _draw_gaps(axes, run.info.interruptions, theme)
    axes.set_title(f"CPU utilization, {run.info.evidence}")
    axes.set_ylim(0, 1.05)
    axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    words = "; grey: without instances; hatched: lost" if run.info.interruptions else ""
    axes.set_xlabel(f"seconds since the begin of the run{words}")
    # beside the title: anywhere else it may lie on a line
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, fontsize=8.5)


def _draw_gaps(axes: Axes, interruptions: Sequence[InterruptionInfo], theme: Theme) -> None:
    """Hatch what was billed and made no step that counts; grey is what was not billed."""
    for one in interruptions:
        back_s = one.gone_s if one.back_s is None else one.back_s
        until_s = back_s if one.until_s is None else one.until_s
        axes.axvspan(one.gone_s, back_s, color=theme.shade, linewidth=0, zorder=0)
        for begin_s, end_s in ((one.from_s, one.gone_s), (back_s, until_s)):
            axes.axvspan(
                begin_s,
                end_s,
                facecolor="none",
                edgecolor=theme.muted,
                alpha=0.4,
                hatch="////",
                linewidth=0,
                zorder=0,
            )


def _broken(
    time_s: NDArray[np.float64],
    values: NDArray[np.float64],
    interruptions: Sequence[InterruptionInfo],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a line that is broken where there were no instances."""
    middles_s = [
        (one.gone_s + one.back_s) / 2 for one in interruptions if one.back_s is not None
    ]
    places = np.searchsorted(time_s, middles_s)
    return np.insert(time_s, places, middles_s), np.insert(values, places, np.nan)
