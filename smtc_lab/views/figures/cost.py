"""Figures of cost: cost per 1,000 steps, and the overview with step time beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.figures.drawing import arms
from smtc_lab.views.figures.frame import NAME_COLUMNS, empty_state, framed_figure, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.words import evidence_line, headline, price_line, tells_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.figures.theme import Theme

_READING_AID = "Bars: means. Lines: 95 % intervals."
_ROW_IN = 0.62


def cost_figure(comparison: Comparison, *, theme: Theme = LIGHT) -> Figure:
    """Return the cost of 1,000 steps of each cluster, with its 95 % interval."""
    clusters = comparison.clusters
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=_bars_height_in(clusters),
            title="Cost of 1,000 steps",
            subtitle=(evidence_line(comparison), _READING_AID),
            foot=price_line(comparison),
        )
        _cost_bars(figure.subplots(), comparison, theme)
    return figure


def overview_figure(
    comparison: Comparison,
    *,
    theme: Theme = LIGHT,
    title: str | None = None,
    framed: bool = True,
) -> Figure:
    """Return step time and cost of each cluster side by side.

    Args:
        comparison: The numbers.
        theme: Colours and fonts.
        title: None: the finding, that is speed-up, saving, ``emulated`` or ``measured``.
        framed: Whether title, subtitle and prices are part of the figure; a page that says
            them in its own text leaves them out.
    """
    clusters = comparison.clusters
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=_bars_height_in(clusters) + 0.35,
            title=(headline(comparison) if title is None else title) if framed else "",
            subtitle=(evidence_line(comparison), _READING_AID) if framed else (),
            foot=price_line(comparison) if framed and tells_cost(comparison) else "",
        )
        with_cost = tells_cost(comparison)
        charts = figure.subplots(1, 2 if with_cost else 1, sharey=True, squeeze=False)[0]
        left = charts[0]
        _bars(
            left,
            clusters,
            [cluster.step_time_s for cluster in clusters],
            [fmt.seconds(cluster.step_time_s.mean, unit="s") for cluster in clusters],
            theme,
        )
        left.set_xlabel(f"seconds per step, {comparison.evidence}")
        if with_cost:
            left.set_title("Step time")
            charts[1].set_title("Cost of 1,000 steps")
            _cost_bars(charts[1], comparison, theme)
    return figure


def _bars_height_in(clusters: Sequence[ClusterResult]) -> float:
    return max(1, len(clusters)) * _ROW_IN + 0.75


def _cost_bars(axes: Axes, comparison: Comparison, theme: Theme) -> None:
    costs = [cluster.usd_per_1000_steps for cluster in comparison.clusters]
    labels = [fmt.usd(cost.mean) if cost else "price unknown" for cost in costs]
    _bars(axes, comparison.clusters, costs, labels, theme)
    axes.set_xlabel(f"USD per 1,000 steps, {comparison.evidence}")


def _bars(
    axes: Axes,
    clusters: Sequence[ClusterResult],
    values: Sequence[Interval | None],
    labels: Sequence[str],
    theme: Theme,
) -> None:
    """Draw a bar with its interval for each value; an unknown one is words, not a bar."""
    if not clusters:
        empty_state(axes, theme, "No cluster was measured.")
        return
    end = max((value.high for value in values if value), default=0.0) or 1.0
    for place, (value, label) in enumerate(zip(values, labels, strict=True)):
        mark = theme.mark(place)
        if value is None:
            axes.text(0.01 * end, place, label, va="center", color=theme.muted, style="italic")
            continue
        axes.barh(
            place,
            value.mean,
            height=0.56,
            color=mark.color,
            hatch=mark.hatch,
            edgecolor=theme.hatch,
            linewidth=0,
        )
        if (reach := arms(value)) is not None:
            axes.errorbar(
                value.mean, place, xerr=reach, color=theme.ink, capsize=4, linewidth=1.4
            )
        axes.text(
            max(value.high, value.mean) + 0.025 * end, place, label, va="center", weight="bold"
        )
    axes.set_yticks(
        range(len(clusters)), [fmt.plain(cluster.name, NAME_COLUMNS) for cluster in clusters]
    )
    axes.set_ylim(len(clusters) - 0.5, -0.5)
    axes.set_xlim(0, end * 1.28)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
