"""What each stage of a step takes on one cluster, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.planner.model.prediction import STAGES
from smtc_lab.views.figures.drawing import arms
from smtc_lab.views.plan.words import STAGE_WORDS
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smtc_lab.planner.model.prediction import Stage
    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.plan.info import PointInfo

STAGE_COLORS: dict[Stage, int] = {"cpu": 1, "network": 3, "serial": 0, "device": 2}
"""Place of each stage in the palette, the same in every view."""


def draw_stages(axes: Axes, point: PointInfo, theme: Theme) -> None:
    """Draw the stages, which overlap, above the step that they make."""
    end = max([point.step_time_s.high, *filter(None, point.stages_s.values())])
    for place, stage in enumerate(STAGES):
        time_s = point.stages_s.get(stage)
        if time_s is None:
            axes.text(0.01 * end, place, fmt.UNKNOWN, va="center", color=theme.muted)
            continue
        color = theme.colors[STAGE_COLORS[stage]]
        axes.barh(place, time_s, height=0.6, color=color, linewidth=0)
        is_limit = stage == point.bottleneck
        words = fmt.seconds(time_s, unit="s") + (", the bottleneck" if is_limit else "")
        axes.text(
            time_s + 0.015 * end,
            place,
            words,
            va="center",
            weight="bold" if is_limit else "normal",
        )
    step = point.step_time_s
    row = len(STAGES)
    axes.barh(row, step.mean, height=0.6, facecolor="none", edgecolor=theme.ink, linewidth=1.4)
    axes.errorbar(step.mean, row, xerr=arms(step), color=theme.ink, capsize=4, linewidth=1.2)
    axes.text(
        step.high + 0.02 * end,
        row,
        fmt.seconds_interval(step, unit="s"),
        va="center",
    )
    names = [*(STAGE_WORDS[stage] for stage in STAGES), "step"]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, end * 1.4)
    axes.set_xlabel(
        f"seconds per step, {point.evidence}; data are prepared while the trainer works"
    )
    axes.set_title(f"What a step takes on {fmt.plain(point.label, 60)}")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
