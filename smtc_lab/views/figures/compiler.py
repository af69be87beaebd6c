"""Figures of compilers: time saved against the baseline, and what each setting brings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.compared.break_even import cumulative_time_s
from smtc_lab.views.figures.drawing import arms
from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.launches import launches_of
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import change_words
from smtc_lab.views.text.words import evidence_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.ablation import FactorEffect
    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.figures.theme import Mark, Theme

COMPILER_FIGURE_NAMES = ("cumulative", "factors")
"""The figures of a comparison of compilers, in the order in which a report shows them."""

_FURTHEST = 10
"""A break-even step further away than so many times the measured steps is not drawn."""

_ROW_IN = 0.5


def cumulative_figure(
    comparison: Comparison, runs: Sequence[RunRecords], *, theme: Theme = LIGHT
) -> Figure:
    """Return the time that each set-up has saved against the baseline, step by step.

    A line begins below 0 while a compiler works, and crosses 0 at its break-even step. What
    lies behind the measured steps is predicted from the steady step time, and dotted.
    """
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.6,
            title="Time saved against the baseline",
            subtitle=(
                evidence_line(comparison),
                "Mean of the launches. Solid: measured. Dotted: predicted. Marks: break-even.",
            ),
        )
        axes = figure.subplots()
        clusters = comparison.clusters
        times_s = [_step_times(cluster, runs) for cluster in clusters]
        if len(clusters) < 2 or not all(times_s):
            empty_state(axes, theme, "No two set-ups with step records were given.")
            return figure
        steps = _length(clusters, times_s)
        base, base_seen = cumulative_time_s(
            times_s[0], steady_s=clusters[0].step_time_s.mean, steps=steps
        )
        name = fmt.plain(clusters[0].name, NAME_COLUMNS)
        axes.axhline(0, color=theme.mark(0).color, linewidth=1.6, label=f"{name}, baseline")
        for place, cluster in enumerate(clusters[1:], start=1):
            total, seen = cumulative_time_s(
                times_s[place], steady_s=cluster.step_time_s.mean, steps=steps
            )
            _saved_line(axes, base - total, min(seen, base_seen), cluster, theme.mark(place))
        axes.set_xlim(0, steps)
        axes.set_xlabel("steps")
        axes.set_ylabel(f"seconds saved, {comparison.evidence}")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, handlelength=3.2)
    return figure


def factors_figure(comparison: Comparison, *, theme: Theme = LIGHT) -> Figure:
    """Return the speed-up that each setting brings by itself, with its 95 % interval."""
    effects = comparison.factors
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=max(1, len(effects)) * _ROW_IN + 0.8,
            title="What each setting brings by itself",
            subtitle=(
                evidence_line(comparison),
                "Right of 1 is faster. Marks: means. Lines: 95 % intervals.",
            ),
        )
        axes = figure.subplots()
        if not effects:
            empty_state(axes, theme, "No two set-ups differ in one setting alone.")
            return figure
        axes.axvline(1, color=theme.muted, linewidth=1.2)
        for place, effect in enumerate(effects):
            _effect_line(axes, place, effect, theme)
        low = min(effect.speedup.low for effect in effects)
        high = max(effect.speedup.high for effect in effects)
        axes.set_xscale("log", base=2)
        axes.set_xlim(min(low, 1.0) / 1.12, max(high, 1.0) * 1.5)
        ticks = _ratio_ticks(min(low, 1.0) / 1.12, max(high, 1.0) * 1.5)
        axes.set_xticks(ticks, [fmt.times(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_yticks(range(len(effects)), [_effect_label(effect) for effect in effects])
        axes.set_ylim(len(effects) - 0.5, -0.5)
        axes.set_xlabel(f"speed-up, {comparison.evidence}")
        axes.grid(visible=False, axis="y")
    return figure


def _step_times(
    cluster: ClusterResult, runs: Sequence[RunRecords]
) -> list[NDArray[np.float64]]:
    """Return the job's step times of each launch: in each step the longest of all ranks."""
    return [launch.step_time_s for launch in launches_of(cluster, runs) if launch.num_steps]


def _length(
    clusters: Sequence[ClusterResult], times_s: Sequence[Sequence[NDArray[np.float64]]]
) -> int:
    """Return how many steps to draw: the measured ones, and on to the break-even steps."""
    measured = max(len(values) for launches in times_s for values in launches)
    length = float(measured)
    for cluster in clusters:
        earned = cluster.compiler.break_even if cluster.compiler is not None else None
        if earned is not None and earned.steps is not None:
            wanted = 1.25 * earned.steps.mean
            length = max(length, wanted if wanted <= _FURTHEST * measured else 0.0)
    return max(1, math.ceil(length))


def _saved_line(
    axes: Axes, saved_s: NDArray[np.float64], seen: int, cluster: ClusterResult, mark: Mark
) -> None:
    steps = np.arange(saved_s.size)
    axes.plot(
        steps[: seen + 1],
        saved_s[: seen + 1],
        color=mark.color,
        marker=mark.marker,
        markevery=[seen],
        label=fmt.plain(cluster.name, NAME_COLUMNS),
    )
    axes.plot(steps[seen:], saved_s[seen:], color=mark.color, linestyle=(0, (1, 1.5)))
    earned = cluster.compiler.break_even if cluster.compiler is not None else None
    if earned is None or earned.steps is None or not 1 <= earned.steps.mean < saved_s.size:
        return
    axes.plot(
        earned.steps.mean,
        float(np.interp(earned.steps.mean, steps, saved_s)),
        color=mark.color,
        marker=mark.marker,
        markersize=10,
        markerfacecolor="none",
        markeredgewidth=2,
    )
    axes.annotate(
        f"step {math.ceil(earned.steps.mean):,}",
        (earned.steps.mean, 0),
        xytext=(-6, 8),
        textcoords="offset points",
        ha="right",
        color=mark.color,
        weight="bold",
    )


def _effect_line(axes: Axes, place: int, effect: FactorEffect, theme: Theme) -> None:
    mark, ratio = theme.mark(0), effect.speedup
    axes.errorbar(
        ratio.mean,
        place,
        xerr=arms(ratio),
        color=mark.color,
        ecolor=theme.ink,
        marker=mark.marker,
        markersize=8,
        capsize=4,
        linewidth=1.4,
    )
    is_seen = ratio.side_of(1) != 0
    axes.annotate(
        fmt.times(ratio.mean) if is_seen else f"{fmt.times(ratio.mean)}, no difference seen",
        (ratio.high, place),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        weight="bold" if is_seen else "normal",
    )


def _effect_label(effect: FactorEffect) -> str:
    second = fmt.plain(effect.second, NAME_COLUMNS)
    first = fmt.plain(effect.first, NAME_COLUMNS)
    return f"{change_words(effect)}\n{second} against {first}"


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios inside the axis, few enough to be legible."""
    is_wide = high / low > 4
    near_one = () if is_wide else (0.85, 1.2)
    choices = (0.1, 0.2, 0.35, 0.5, 0.7, *near_one, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
    return sorted(tick for tick in choices if low <= tick <= high)
