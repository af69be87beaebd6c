"""The figure of a scaling study: efficiency over devices, and what the rest is lost to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from matplotlib.ticker import PercentFormatter

from smtc_lab.metrics.result import NO_CLAIM
from smtc_lab.metrics.scaling.verdict import CAUSE_WORDS, REST
from smtc_lab.views.figures.frame import NAME_COLUMNS, framed_figure, rendered, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.scaling.info import scaling_info
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.metrics.scaling.scaling import Cause, Scaling
    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.scaling.info import ScaledCurve, ScaledPoint, ScalingInfo


class _Look(NamedTuple):
    """The colour of a part of a cluster; hatched is paid for waiting."""

    color: str
    hatch: str


_LOOKS: dict[Cause, _Look] = {
    "data_wait": _Look("#6f86a3", "////"),
    "stragglers": _Look("#85246d", "////"),
    "communication": _Look("#7a6200", "////"),
    "compute": _Look("#85246d", ""),
    "other": _Look("#59636e", "xx"),
}
_LEAST_TOP = 1.1


def scaling_figure(scaling: ScalingInfo, *, scale: str = "", theme: Theme = LIGHT) -> Figure:
    """Return efficiency over devices with its intervals, and the lost time of each point.

    Args:
        scaling: What a view is told.
        scale: The scale of the emulation in words; empty: nothing is emulated.
        theme: Colours and fonts.
    """
    points = [point for curve in scaling.curves for point in curve.points]
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.4 + 0.14 * len(points),
            title=f"{scaling.mode.capitalize()} scaling",
            subtitle=(
                scale or "measured on the hardware that is named",
                " ".join(_key(scaling)),
            ),
        )
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for curve in scaling.curves:
            _curve(left, curve, theme, is_named=len(scaling.curves) > 1)
        _efficiency_axes(left, scaling, points, theme)
        _losses(right, points, theme)
    return figure


def _key(scaling: ScalingInfo) -> list[str]:
    """Return what the marks of the efficiencies mean that are there."""
    told = [
        point.efficiency
        for curve in scaling.curves
        for point in curve.points
        if point.efficiency is not None
    ]
    has_intervals = any(each.spread not in NO_CLAIM for each in told)
    return [
        *(["Bars at points: 95 % intervals."] if has_intervals else ["One launch of each."]),
        *(
            ["Ring: adding devices pays up to here."]
            if any(curve.knee for curve in scaling.curves)
            else []
        ),
    ]


def write_scaling_figure(scaling: Scaling, path: Path) -> None:
    """Write the figure of a result; the suffix of the file says how.

    Raises:
        ValueError: matplotlib writes no such files.
    """
    names = [cluster.name for cluster in scaling.comparison.clusters]
    figure = scaling_figure(scaling_info(scaling, names))
    if path.suffix in {".png", ".svg"}:
        path.write_bytes(rendered(figure, LIGHT, "svg" if path.suffix == ".svg" else "png"))
        return
    with styled(LIGHT):
        figure.savefig(path)


def _curve(axes: Axes, curve: ScaledCurve, theme: Theme, *, is_named: bool) -> None:
    means = [1.0 if p.efficiency is None else p.efficiency.mean for p in curve.points]
    devices = [point.devices for point in curve.points]
    axes.plot(devices, means, color=theme.muted, linewidth=1.2, zorder=2)
    for point, mean in zip(curve.points, means, strict=True):
        mark = theme.mark(point.set_up)
        if point.efficiency is not None and point.efficiency.spread not in NO_CLAIM:
            low, high = point.efficiency.low, point.efficiency.high
            axes.plot([point.devices] * 2, [low, high], color=mark.color, linewidth=2)
        axes.plot(point.devices, mean, color=mark.color, marker=mark.marker, zorder=3)
        if point.devices == curve.knee:
            axes.plot(
                point.devices,
                mean,
                marker="o",
                markersize=15,
                markerfacecolor="none",
                markeredgecolor=theme.ink,
            )
    if is_named:
        axes.annotate(
            fmt.plain(curve.name, NAME_COLUMNS),
            (devices[-1], means[-1]),
            (0, -12),
            textcoords="offset points",
            ha="right",
            size=9,
        )


def _efficiency_axes(
    axes: Axes, scaling: ScalingInfo, points: Sequence[ScaledPoint], theme: Theme
) -> None:
    devices = sorted({point.devices for point in points}) or [1]
    axes.axhline(1.0, color=theme.muted, linestyle="--", linewidth=1.2)
    axes.annotate("ideal", (devices[0], 1.0), (2, 3), textcoords="offset points", size=9)
    axes.set_xscale("log", base=2)
    axes.set_xticks(devices, [str(count) for count in devices])
    axes.minorticks_off()
    highest = max(
        (point.efficiency.high for point in points if point.efficiency is not None), default=0
    )
    axes.set_ylim(0, max(_LEAST_TOP, 1.05 * min(highest, 3.0)))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("devices")
    axes.set_ylabel(f"{scaling.mode} efficiency")


def _losses(axes: Axes, points: Sequence[ScaledPoint], theme: Theme) -> None:
    shown: set[Cause] = set()
    for row, point in enumerate(points):
        gained = sum(min(0.0, part.s_per_step.mean) for part in point.lost)
        left = 1e3 * (point.ideal_step_time_s + gained)
        axes.barh(row, left, color=theme.shade, edgecolor=theme.muted, height=0.6)
        for part in point.lost:
            width = 1e3 * max(0.0, part.s_per_step.mean)
            look = _LOOKS[part.cause]
            axes.barh(
                row,
                width,
                left=left,
                height=0.6,
                facecolor=look.color if not look.hatch else theme.paper,
                edgecolor=look.color,
                hatch=look.hatch,
                label="" if part.cause in shown else _words(part.cause, points),
            )
            shown.add(part.cause)
            left += width
    axes.set_yticks(range(len(points)), [f"{point.devices}" for point in points])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("devices")
    axes.set_xlabel("ms/step; grey: ideal")
    if shown:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize=8, ncols=1)


def _words(cause: Cause, points: Sequence[ScaledPoint]) -> str:
    is_measured = any(part.cause == "communication" for point in points for part in point.lost)
    return REST if cause == "other" and is_measured else CAUSE_WORDS[cause]
