"""The figure of a pipeline: what each rank computed when, and where it waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.patches import Patch, Rectangle

from smtc_lab.views.figures.frame import empty_state, framed_figure, rendered, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.metrics.pipeline.times import PipelineTimes, TimedStep
    from smtc_lab.views.figures.theme import Theme

_HEIGHT = 0.8
_LOWER = 0.6
"""Of what was measured, where what was predicted stands behind it."""

_NUMBERED = 1 / 60
"""Narrower boxes, as shares of the step, have no number of their microbatch."""

_ALPHAS = {"forward": 0.35, "backward": 1.0, "weight": 0.65}


def pipeline_figure(times: PipelineTimes, *, theme: Theme = LIGHT) -> Figure:
    """Return one step of a pipeline: a row for each rank, a box for each computation.

    Args:
        times: What was recorded; the step in the middle by its time is drawn, before the
            outlines of what the cut expected.
        theme: Colours and fonts.
    """
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=1.2 + 0.42 * len(times.ranks),
            title=times.sentence,
            subtitle=(
                f"{times.evidence}; {times.schedule}, {times.microbatches} microbatches",
                _which_step(times),
                "Numbers are microbatches, hatched is paid for, but waiting.",
            ),
        )
        axes = figure.subplots()
        if times.drawn is not None:
            _timeline(axes, times, times.drawn, theme)
        else:
            empty_state(axes, theme, "No step of the pipeline was recorded yet.")
    return figure


def write_pipeline_figure(times: PipelineTimes, path: Path) -> None:
    """Write the figure of a pipeline as PNG, or as SVG where the file is called so."""
    file_format: Any = "svg" if path.suffix == ".svg" else "png"
    path.write_bytes(rendered(pipeline_figure(times), LIGHT, file_format))


def _which_step(times: PipelineTimes) -> str:
    if times.drawn is None:
        return "None was timed yet."
    told = f"Step {times.drawn.step} took {fmt.seconds(times.drawn.window_s)}"
    if times.expected is None:
        return f"{told}; it holds no prediction."
    basis = (
        "the time that was computed, divided by operations"
        if times.expected.is_scaled
        else "what the emulated device declares"
    )
    return f"{told}, predicted {fmt.seconds(times.expected.step_s)}: {basis}."


def _timeline(axes: Axes, times: PipelineTimes, step: TimedStep, theme: Theme) -> None:
    color = theme.parts["device"][0]
    rank_of = {stage.stage: stage.rank for stage in times.stages}
    end_s = max((one.end_s for one in step.computations), default=step.window_s)
    expected = times.expected
    height = _HEIGHT if expected is None else _LOWER
    for row in range(len(times.ranks)):
        corner = (0.0, row + _HEIGHT / 2 - height)
        waits = Rectangle(corner, 1e3 * end_s, height, linewidth=0, hatch="////")
        waits.set(facecolor=theme.paper, edgecolor=theme.grid)
        axes.add_patch(waits)
    for one in () if expected is None else expected.computations:
        corner = (1e3 * one.begin_s, rank_of[one.stage] - _HEIGHT / 2)
        box = Rectangle(corner, 1e3 * (one.end_s - one.begin_s), _HEIGHT - _LOWER)
        is_full = one.kind == "backward"
        box.set(
            facecolor=theme.grid if is_full else theme.paper, edgecolor=color, linewidth=0.6
        )
        axes.add_patch(box)
    for one in step.computations:
        row, width = rank_of[one.stage], 1e3 * (one.end_s - one.begin_s)
        corner = (1e3 * one.begin_s, row + _HEIGHT / 2 - height)
        axes.add_patch(Rectangle(corner, width, height, facecolor=theme.paper))
        axes.add_patch(
            Rectangle(
                corner,
                width,
                height,
                facecolor=color,
                edgecolor=theme.paper,
                alpha=_ALPHAS[one.kind],
            )
        )
        if one.end_s - one.begin_s > _NUMBERED * end_s:
            is_full = one.kind == "backward"
            axes.text(
                corner[0] + width / 2,
                corner[1] + height / 2,
                str(one.microbatch + 1),
                ha="center",
                va="center",
                size=8,
                color=theme.paper if is_full else theme.ink,
                clip_on=True,
            )
    _frame(axes, times, step, theme)


def _frame(axes: Axes, times: PipelineTimes, step: TimedStep, theme: Theme) -> None:
    """Draw axes and key, and where the predicted step ends."""
    color, expected = theme.parts["device"][0], times.expected
    rows = range(len(times.ranks))
    axes.set_yticks(rows, [_rank_words(times, rank) for rank in rows])
    axes.set_ylim(len(times.ranks) - 0.5, -0.5)
    axes.set_xlim(0, 1e3 * max(step.window_s, 0.0 if expected is None else expected.step_s))
    axes.grid(visible=False)
    axes.set_xlabel("ms since the begin of the step")
    kinds = dict.fromkeys(one.kind for one in step.computations)
    marks = [Patch(facecolor=color, alpha=_ALPHAS[kind], label=kind) for kind in kinds]
    if expected is not None:
        marks.append(Patch(facecolor=theme.paper, edgecolor=color, label="predicted"))
        axes.axvline(1e3 * expected.step_s, color=color, linestyle="--", linewidth=1)
    axes.legend(handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize=8)


def _rank_words(times: PipelineTimes, rank: int) -> str:
    own = [str(stage.stage) for stage in times.stages if stage.rank == rank]
    return f"rank {rank}\nstage {' and '.join(own)}"
