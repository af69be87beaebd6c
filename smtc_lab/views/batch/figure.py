"""The figure of a batch size search: throughput against batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.views.figures.theme import Mark, Theme


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchCurve:
    """What was measured of one set-up at several batch sizes."""

    name: str
    """Name of the set-up."""

    batch_sizes: Sequence[int]
    """Batch sizes that fitted, ascending."""

    samples_per_s: Sequence[float]
    """Throughput of each."""

    least_too_large: int | None = None
    """Smallest batch size that did not fit; None: all did."""


def throughput_figure(
    curves: Sequence[BatchCurve], *, subtitle: str, theme: Theme = LIGHT
) -> Figure:
    """Return samples per second against batch size, one curve for each set-up.

    The filled mark of a curve is its best batch; a cross marks the first that did not fit.

    Args:
        curves: What was measured.
        subtitle: Where it was measured, and under which limit of memory.
        theme: Colours and fonts.
    """
    drawn = [curve for curve in curves if curve.batch_sizes]
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.6,
            title="Throughput against batch size",
            subtitle=(subtitle, "Filled: the best batch of each. Cross: did not fit."),
        )
        axes = figure.subplots()
        if not drawn:
            empty_state(axes, theme, "No batch size was measured. Begin with a smaller one.")
            return figure
        sizes: set[int] = set()
        for place, curve in enumerate(drawn):
            _curve(axes, curve, theme.mark(place), theme)
            sizes |= {*curve.batch_sizes}
        axes.set_xscale("log", base=2)
        ticks = [size for size in sorted(sizes) if size & (size - 1) == 0] or sorted(sizes)
        axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("batch size (samples)")
        axes.set_ylabel("samples/s")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, handlelength=3.2)
    return figure


def _curve(axes: Axes, curve: BatchCurve, mark: Mark, theme: Theme) -> None:
    axes.plot(
        curve.batch_sizes,
        curve.samples_per_s,
        color=mark.color,
        linestyle=mark.line_style,
        marker=mark.marker,
        markerfacecolor=theme.paper,
        label=fmt.plain(curve.name, NAME_COLUMNS),
    )
    best = max(range(len(curve.batch_sizes)), key=lambda at: curve.samples_per_s[at])
    axes.plot(
        curve.batch_sizes[best],
        curve.samples_per_s[best],
        color=mark.color,
        marker=mark.marker,
        markersize=9,
    )
    if curve.least_too_large is not None:
        axes.plot(
            curve.least_too_large,
            curve.samples_per_s[-1],
            color=mark.color,
            marker="x",
            markersize=9,
            markeredgewidth=2,
        )
