"""Figures of step times: over the steps, and their distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.launches import launches_of, measured_step_times, rolling_mean
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.words import evidence_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.figures.launches import Launch
    from smtc_lab.views.figures.theme import Mark, Theme

_MOST_POINTS = 2000
_NO_STEPS = "No step records of this cluster were given. Pass the records of its runs."


def step_time_figure(
    comparison: Comparison, runs: Sequence[RunRecords], *, theme: Theme = LIGHT
) -> Figure:
    """Return step time over steps: a panel for each cluster, its launches beside each other.

    Points are steps, the line is a rolling mean, the shaded begin of a launch is its warm-up.
    All panels share the axis of step time.
    """
    clusters = comparison.clusters
    launches = [launches_of(cluster, runs) for cluster in clusters]
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=max(1, len(clusters)) * 1.75 + 0.45,
            title="Step time, step by step",
            subtitle=(
                evidence_line(comparison),
                "Points: steps. Line: rolling mean. Dotted: mean. Shaded: warm-up.",
            ),
        )
        panels = figure.subplots(max(1, len(clusters)), 1, squeeze=False, sharey=True)[:, 0]
        top_s = _axis_top_s(clusters, launches)
        if not clusters:
            empty_state(panels[0], theme, "No cluster was measured.")
        for place, (axes, cluster) in enumerate(zip(panels, clusters, strict=False)):
            _step_panel(axes, cluster, launches[place], top_s, theme.mark(place), theme)
        if clusters:
            panels[-1].set_xlabel("step of each launch")
    return figure


def distribution_figure(
    comparison: Comparison, runs: Sequence[RunRecords], *, theme: Theme = LIGHT
) -> Figure:
    """Return the share of steps that took at most a time, one curve for each cluster.

    The mean of each cluster is marked on its curve. Warm-up is left out.
    """
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.4,
            title="How step times are spread",
            subtitle=(
                evidence_line(comparison),
                "A curve further left is faster, a steeper one is steadier. Marks: means.",
            ),
        )
        axes = figure.subplots()
        handles, labels, ends_s = [], [], []
        for place, cluster in enumerate(comparison.clusters):
            times_s = measured_step_times(launches_of(cluster, runs))
            if times_s.size == 0:
                continue
            mark = theme.mark(place)
            handles.append(_draw_curve(axes, times_s, cluster.step_time_s.mean, mark))
            name = fmt.plain(cluster.name, NAME_COLUMNS)
            labels.append(f"{name}, mean {fmt.seconds(cluster.step_time_s.mean, unit='s')}")
            ends_s.append(max(float(np.quantile(times_s, 0.995)), cluster.step_time_s.mean))
        if not handles:
            empty_state(axes, theme, _NO_STEPS)
            return figure
        axes.set_xlim(0, max(ends_s) * 1.08)
        axes.set_ylim(0, 1.03)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("step time (s)")
        axes.set_ylabel("share of steps")
        figure.legend(handles, labels, loc="outside lower left", ncols=2, handlelength=3.2)
    return figure


def _step_panel(  # noqa: PLR0913, PLR0917  a panel needs all of what it shows
    axes: Axes,
    cluster: ClusterResult,
    launches: Sequence[Launch],
    top_s: float,
    mark: Mark,
    theme: Theme,
) -> None:
    name = fmt.plain(cluster.name, NAME_COLUMNS)
    axes.set_title(name)
    if not any(launch.num_steps for launch in launches):
        empty_state(axes, theme, _NO_STEPS)
        return
    total = sum(launch.num_steps for launch in launches)
    gap = max(1.0, 0.02 * total)
    stride = -(-total // _MOST_POINTS)
    begin, ticks, tick_labels, above = 0.0, [], [], 0
    for launch in launches:
        _draw_launch(axes, launch, begin, stride, top_s, mark, theme)
        above += int((launch.step_time_s > top_s).sum())
        for step in _tick_steps(launch.num_steps, len(launches)):
            ticks.append(begin + step)
            tick_labels.append(f"{step:,}")
        begin += launch.num_steps + gap
    mean = cluster.step_time_s
    axes.axhline(mean.mean, color=theme.ink, linewidth=1, linestyle=(0, (2, 2)), zorder=3)
    notes = [f"mean {fmt.seconds_interval(mean, unit='s')}"]
    if above:
        notes.append(f"▲ {fmt.count(above, 'step')} above {fmt.seconds(top_s, unit='s')}")
    axes.set_title("   ".join(notes), loc="right", weight="normal", size=9.5, color=theme.muted)
    axes.set_xlim(-gap / 2, begin - gap / 2)
    axes.set_ylim(0, top_s)
    axes.set_ylabel("step time (s)")
    axes.set_xticks(ticks, tick_labels)
    axes.grid(visible=False, axis="x")


def _draw_launch(  # noqa: PLR0913, PLR0917  a panel needs all of what it shows
    axes: Axes,
    launch: Launch,
    begin: float,
    stride: int,
    top_s: float,
    mark: Mark,
    theme: Theme,
) -> None:
    time_s = launch.step_time_s
    number = np.arange(time_s.size)
    if launch.warm_up_steps:
        width = min(launch.warm_up_steps, launch.num_steps)
        axes.axvspan(begin - 0.5, begin + width - 0.5, color=theme.shade, linewidth=0, zorder=0)
    is_above = time_s > top_s
    shown = np.zeros(time_s.size, dtype=bool)
    shown[::stride] = True
    axes.plot(
        begin + number[shown & ~is_above],
        time_s[shown & ~is_above],
        **mark.points(),
        rasterized=time_s.size > 500,
    )
    above = begin + number[is_above]
    axes.plot(
        above[:_MOST_POINTS],
        np.full(above[:_MOST_POINTS].size, top_s * 0.96),
        linestyle="none",
        marker="^",
        markersize=5,
        color=theme.muted,
    )
    window = max(5, launch.num_steps // 20) | 1
    axes.plot(
        begin + number[::stride],
        rolling_mean(time_s, window)[::stride],
        color=mark.color,
        linewidth=1.8,
        zorder=4,
    )
    axes.text(
        begin + launch.num_steps / 2,
        0.95,
        f"launch {launch.number}",
        transform=axes.get_xaxis_transform(),
        ha="center",
        va="top",
        size=8.5,
        color=theme.muted,
    )


def _draw_curve(axes: Axes, times_s: NDArray[np.float64], mean_s: float, mark: Mark) -> Line2D:
    shares = np.linspace(0, 1, min(times_s.size, 1000) + 1)
    quantiles_s = np.quantile(times_s, shares, method="inverted_cdf")
    (curve,) = axes.plot(
        quantiles_s,
        shares,
        drawstyle="steps-post",
        color=mark.color,
        linestyle=mark.line_style,
        marker=mark.marker,
        markevery=[],
    )
    share_at_mean = float((times_s <= mean_s).mean())
    axes.plot(
        [mean_s, mean_s], [0, share_at_mean], color=mark.color, linewidth=1, linestyle=":"
    )
    axes.plot(mean_s, share_at_mean, color=mark.color, marker=mark.marker, markersize=8)
    return curve


def _axis_top_s(
    clusters: Sequence[ClusterResult], launches: Sequence[Sequence[Launch]]
) -> float:
    """Return the top of the axis: nearly all measured steps lie below it.

    One stalled step must not press all others to the bottom.
    """
    tops_s = [1.3 * cluster.step_time_s.high for cluster in clusters]
    for of_cluster in launches:
        times_s = measured_step_times(of_cluster)
        if times_s.size:
            tops_s.append(1.2 * float(np.quantile(times_s, 0.99)))
    top_s = max(tops_s, default=1.0)
    if not np.isfinite(top_s) or top_s <= 0:
        return 1.0
    digit = 10.0 ** np.floor(np.log10(top_s)) / 10
    return float(np.ceil(top_s / digit) * digit)


def _tick_steps(num_steps: int, num_launches: int) -> list[int]:
    """Return round step numbers from 0, few enough to be legible beside other launches."""
    most = max(1, 12 // max(1, num_launches))
    size = 1
    while num_steps / size > most:
        # 1, 2, 5, 10, 20, 50, …
        size = size * 5 // 2 if str(size).startswith("2") else size * 2
    return list(range(0, num_steps, size))
