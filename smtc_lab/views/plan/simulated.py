"""A run that was played, not run: its figure, and what a notebook keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.views.figures.drawing import mime_bundle, picture_of
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from smtc_lab.planner.model.simulation import SimulatedRun
    from smtc_lab.views.figures.theme import Theme


def bundle_of(run: SimulatedRun) -> dict[str, Any]:
    """Return the mime bundle of a simulated run."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.figures.theme import LIGHT  # noqa: PLC0415

    picture = picture_of(simulated_figure(run, theme=LIGHT, framed=False))
    sentence = simulated_sentence(run)
    html = render("display_simulated.html.j2", sentence=sentence, picture=picture)
    return mime_bundle({}, html=html, text=sentence, picture=picture)


def to_html(run: SimulatedRun) -> str:
    """Return a simulated run as HTML for a notebook."""
    html: str = bundle_of(run)["text/html"]
    return html


def simulated_sentence(run: SimulatedRun) -> str:
    """Return what was played, and what came of it."""
    ranks = fmt.count(len(run.steps), "trainer")
    steps = fmt.count(len(run.slowest()), "step")
    return (
        f"Simulated run of {steps} on {ranks}, {run.evidence}: "
        f"{fmt.seconds(run.mean_step_time_s)} a step behind the warm-up, "
        f"{fmt.percent(run.data_wait_fraction)} of it waiting for data."
    )


def simulated_figure(run: SimulatedRun, *, theme: Theme, framed: bool = True) -> Figure:
    """Return step time and data wait over the steps of a simulated run.

    Args:
        run: The run. Of several trainers the slowest counts in each step, as in a real run.
        theme: Colours and fonts.
        framed: Whether the sentence is part of the figure.
    """
    from smtc_lab.views.figures.frame import framed_figure, styled  # noqa: PLC0415  as above

    title = simulated_sentence(run) if framed else ""
    records = run.slowest()
    steps = [record.step for record in records]
    with styled(theme):
        figure = framed_figure(theme, height_in=3.0, title=title, subtitle=())
        axes = figure.subplots()
        for place, (label, times) in enumerate(
            (
                ("step time", [record.step_time_s for record in records]),
                ("data wait", [record.data_wait_s for record in records]),
            )
        ):
            mark = theme.mark(place)
            axes.plot(
                steps,
                times,
                color=mark.color,
                linestyle=mark.line_style,
                linewidth=1.4,
                label=label,
            )
        axes.axvspan(-0.5, run.warm_up_steps - 0.5, color=theme.shade, linewidth=0, zorder=0)
        # a first step that fills the pipeline would press all others flat
        settled_s = [record.step_time_s for record in records[run.warm_up_steps :]]
        top_s = 1.15 * max(settled_s)
        axes.set_ylim(0, top_s)
        is_cut = any(record.step_time_s > top_s for record in records)
        note = f"   (some beyond {fmt.seconds(top_s)})" if is_cut else ""
        axes.set_title(f"Step time, {run.evidence}{note}")
        axes.set_ylabel("seconds of each step")
        axes.set_xlabel("step; shaded: warm-up")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=8.5)
    return figure
