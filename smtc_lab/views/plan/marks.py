"""What stands on the figure of a plan: clusters, runs, their names, and the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from matplotlib.lines import Line2D

from smtc_lab.planner.model.prediction import STAGES
from smtc_lab.views.figures.drawing import arms
from smtc_lab.views.plan.stages import STAGE_COLORS
from smtc_lab.views.plan.words import STAGE_WORDS, error_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.plan.info import MeasuredInfo, PointInfo

_SIZE = 62
_DASHED = (0, (2, 1.4))
_OUTLINES = {"predicted": "-", "extrapolated": _DASHED, "estimated": _DASHED}
_HOMOGENEOUS, _HETEROGENEOUS = "o", "s"


class PlannedMark(NamedTuple):
    """A cluster, and the numbers of it that are drawn."""

    point: PointInfo
    """The cluster."""

    time_s: Interval
    """Time of a step or of the job, in seconds."""

    usd: Interval
    """Cost of 1,000 steps or of the job, in USD."""


def draw_mark(axes: Axes, mark: PlannedMark, theme: Theme) -> None:
    """Draw a cluster, hollow: nothing of it was measured. Bands are its intervals."""
    point, x, y = mark
    color = theme.colors[STAGE_COLORS[point.bottleneck]]
    stands_out = point.is_pareto or bool(point.names)
    alpha = 1.0 if stands_out else 0.45
    if stands_out:
        axes.errorbar(
            x.mean,
            y.mean,
            xerr=arms(x),
            yerr=arms(y),
            color=color,
            linewidth=5,
            alpha=0.22,
            fmt="none",
            zorder=2,
        )
    axes.scatter(
        x.mean,
        y.mean,
        s=_SIZE if stands_out else _SIZE / 2,
        marker=_HETEROGENEOUS if point.is_heterogeneous else _HOMOGENEOUS,
        facecolors=theme.paper or "none",
        edgecolors=color,
        linestyles=[_OUTLINES[point.evidence]],
        linewidths=1.6,
        alpha=alpha,
        zorder=3,
    )


def draw_run(axes: Axes, run: MeasuredInfo, theme: Theme) -> None:
    """Draw a run, solid, with its interval; joined to it what was predicted of it, hollow."""
    if run.usd_per_1000_steps is None:
        return
    x, y = run.step_time_s, run.usd_per_1000_steps
    marker = _HETEROGENEOUS if run.is_heterogeneous else _HOMOGENEOUS
    axes.plot(
        [run.predicted_s.mean, x.mean],
        [y.mean * run.predicted_s.mean / x.mean, y.mean],
        color=theme.ink,
        linestyle=":",
        linewidth=1.2,
        marker=marker,
        markersize=6,
        markerfacecolor=theme.paper or "none",
        zorder=4,
    )
    axes.errorbar(
        x.mean,
        y.mean,
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
        (x.mean, y.mean),
        xytext=(14, -38),
        textcoords="offset points",
        size=8.5,
        color=theme.ink,
        arrowprops={"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7},
        zorder=6,
    )


def name_marks(axes: Axes, marks: Sequence[PlannedMark], theme: Theme) -> None:
    """Write what a cluster is known for above it, each on a line of its own."""
    for place, mark in enumerate(sorted(marks, key=lambda item: -item.time_s.mean)):
        axes.annotate(
            ", ".join(mark.point.names),
            (mark.time_s.mean, mark.usd.mean),
            xytext=(12, 8 + 16 * place),
            textcoords="offset points",
            size=9.5,
            weight="bold",
            color=theme.ink,
            arrowprops={"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7},
            zorder=6,
        )


def key_samples(
    points: Sequence[PointInfo], runs: Sequence[MeasuredInfo], theme: Theme
) -> list[Line2D]:
    """Return the samples of the key, of what is there."""
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
    uncertain = [name for name, line in _OUTLINES.items() if line == _DASHED]
    if found := [name for name in uncertain if any(each.evidence == name for each in points)]:
        samples.append(_sample(", ".join(found), theme.muted, own, dashed=True))
    kinds = dict.fromkeys(run.evidence for run in runs)
    return samples + [_sample(evidence, theme.ink, theme.ink) for evidence in kinds]


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
