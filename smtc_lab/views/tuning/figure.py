"""The figure of a search: the best objective so far, over trials and over dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.figures.frame import empty_state, framed_figure, styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from smtc_lab.views.figures.theme import Theme
    from smtc_lab.views.tuning.info import TuningInfo

_NAME = 40


def tuning_figure(told: TuningInfo, *, theme: Theme = LIGHT) -> Figure:
    """Return the best objective so far.

    Args:
        told: What a view is told.
        theme: Colours and fonts.
    """
    name = fmt.plain(told.objective, _NAME)
    best = told.so_far
    is_priced = all(one.usd is not None for one in best)
    with styled(theme):
        figure = framed_figure(
            theme,
            height_in=3.0,
            title=f"Best {name} so far",
            subtitle=(f"{'Less' if told.is_minimized else 'More'} is better. {told.evidence}",),
        )
        if not best:
            empty_state(figure.subplots(), theme, f"No trial has a {name} yet.")
            return figure
        labels = ["trials that have ended", *(["USD spent"] if is_priced else [])]
        rows = figure.subplots(1, len(labels), squeeze=False, sharey=True)[0]
        mark = theme.mark(0)
        for axes, label in zip(rows, labels, strict=True):
            xs = [one.trials if label == labels[0] else one.usd or 0.0 for one in best]
            axes.step(xs, [one.objective for one in best], where="post", color=mark.color)
            axes.plot(xs, [one.objective for one in best], mark.marker, color=mark.color)
            axes.set_xlim(left=0)
            axes.set_xlabel(label)
        rows[0].set_ylabel(name)
    return figure
