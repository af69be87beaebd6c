"""The figure of utilization: the device and the CPU of each instance group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.launches import (
    cpu_fractions,
    gpu_fractions,
    launches_of,
    time_edges,
)
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.words import evidence_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison, GroupResult
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.figures.launches import Launch
    from smtc_lab.views.figures.theme import Mark, Part, Theme

    Floats = NDArray[np.float64]

_READING_AID = "Left: all launches, start-up shaded. Thin: each launch. Right: measured steps."
_STRIP_IN = 0.5
_CLUSTER_IN = 0.75
_MOST_SINGLE_LAUNCHES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class _Strip:
    """What one line of the figure shows: a part of a cluster over time, and its mean."""

    label: str
    """``device``, or ``CPU`` and the name of the group."""

    edges: Floats
    """Bin edges in seconds from the first step, shape (B + 1,)."""

    single: list[Floats]
    """For each launch its fractions, shape (B,), NaN where nothing is known."""

    together: Floats
    """Fractions over all launches, shape (B,)."""

    mean: float | None
    """Mean over measured steps; None: unknown."""

    part: Part
    """What it is of, which gives its colour."""

    number: int = 0
    """Of its instance group."""

    def mark(self, theme: Theme) -> Mark:
        """Return how it is drawn."""
        return theme.part(self.part, self.number)


def utilization_figure(
    comparison: Comparison, runs: Sequence[RunRecords], *, theme: Theme = LIGHT
) -> Figure:
    """Return how busy device and CPUs were: left over time, right as means of measured steps.

    Each launch begins with its first step at 0; the line is all launches together.
    """
    clusters = comparison.clusters
    strips = [_strips(cluster, launches_of(cluster, runs), comparison) for cluster in clusters]
    num_strips = sum(len(of_cluster) for of_cluster in strips)
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=max(1, num_strips) * _STRIP_IN + max(1, len(clusters)) * _CLUSTER_IN,
            title="What was busy, and what waited",
            subtitle=(
                evidence_line(comparison),
                _READING_AID,
            ),
        )
        if not clusters:
            empty_state(figure.subplots(), theme, "No cluster was measured.")
            return figure
        panels = figure.subplots(num_strips, 2, squeeze=False, width_ratios=(2.3, 1))
        row = 0
        for cluster, of_cluster in zip(clusters, strips, strict=True):
            panels[row, 0].set_title(fmt.plain(cluster.name, NAME_COLUMNS))
            for strip in of_cluster:
                _draw_over_time(panels[row, 0], strip, theme)
                _draw_mean(panels[row, 1], strip, theme)
                row += 1
            _label_axes(panels[row - len(of_cluster) : row])
    return figure


def _strips(
    cluster: ClusterResult, launches: Sequence[Launch], comparison: Comparison
) -> list[_Strip]:
    edges = time_edges(launches)

    def strip(
        label: str,
        mean: float | None,
        fractions: Callable[[Sequence[Launch]], Floats],
        *,
        part: Part = "cpu",
        number: int = 0,
    ) -> _Strip:
        is_many = not 1 < len(launches) <= _MOST_SINGLE_LAUNCHES
        return _Strip(
            label=label,
            edges=edges,
            single=[] if is_many else [fractions([launch]) for launch in launches],
            together=fractions(launches),
            mean=mean,
            part=part,
            number=number,
        )

    def cpu(number: int, group: GroupResult) -> _Strip:
        name = group.instance_group_name
        quota_cores = group.cpu_quota_cores or _machine_cores(comparison)
        hosts = _hosts(cluster, group)
        return strip(
            f"CPU of\n{fmt.plain(name, 16)}",
            cluster.utilization.cpu.get(name),
            lambda some: cpu_fractions(some, hosts, edges, quota_cores),
            number=number,
        )

    device = strip(
        "device",
        cluster.utilization.device,
        lambda some: gpu_fractions(some, edges),
        part="device",
    )
    return [device, *(cpu(*each) for each in enumerate(cluster.instance_groups))]


def _hosts(cluster: ClusterResult, group: GroupResult) -> list[str]:
    """Return the hosts of a group: instances are named ``algo-1``, … in the order of groups."""
    first = 1
    for other in cluster.instance_groups:
        if other is group:
            break
        first += other.instance_count
    return [f"algo-{number}" for number in range(first, first + group.instance_count)]


def _machine_cores(comparison: Comparison) -> float | None:
    cores = comparison.machine.get("cores")
    return float(cores) if isinstance(cores, int | float) and cores > 0 else None


def _draw_over_time(axes: Axes, strip: _Strip, theme: Theme) -> None:
    mark = strip.mark(theme)
    axes.set_ylabel(strip.label, rotation=0, ha="right", va="center", size=9.5, labelpad=6)
    axes.set_ylim(0, 1.05)
    axes.set_yticks([0, 0.5, 1], ["0 %", "", "100 %"], size=8)
    if not np.isfinite(strip.together).any():
        axes.set_xticks([])
        axes.grid(visible=False)
        axes.text(
            0.5,
            0.5,
            "no samples were given",
            transform=axes.transAxes,
            ha="center",
            va="center",
            size=9.5,
            color=theme.muted,
        )
        return
    middles_s = (strip.edges[1:] + strip.edges[:-1]) / 2
    for fractions in strip.single:
        axes.plot(middles_s, fractions, color=mark.color, linewidth=0.8, alpha=0.45)
    axes.plot(middles_s, strip.together, color=mark.color, linewidth=1.8)
    axes.fill_between(middles_s, 0, strip.together, color=mark.color, alpha=0.16, linewidth=0)
    axes.set_xlim(strip.edges[0], strip.edges[-1])
    if strip.edges[0] < 0:
        axes.axvspan(strip.edges[0], 0, color=theme.shade, linewidth=0, zorder=0)


def _draw_mean(axes: Axes, strip: _Strip, theme: Theme) -> None:
    axes.set_xlim(0, 1.3)
    axes.set_ylim(-0.8, 0.8)
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1], [])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="x", length=0)
    if strip.mean is None:
        axes.text(0.02, 0, fmt.UNKNOWN, va="center", color=theme.muted, style="italic")
        return
    axes.barh(
        0,
        strip.mean,
        height=0.8,
        color=strip.mark(theme).color,
        linewidth=0,
    )
    axes.text(
        max(0.0, strip.mean) + 0.03, 0, fmt.percent(strip.mean), va="center", weight="bold"
    )


def _label_axes(panels: NDArray[np.object_]) -> None:
    """Write the axes of one cluster at its last strip, once for all of its strips."""
    for axes in panels[:-1, 0]:
        axes.tick_params(axis="x", labelbottom=False)
    panels[-1, 0].set_xlabel("seconds from the first step", size=9.5)
    panels[-1, 1].set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
