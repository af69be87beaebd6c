"""A spot forecast as a small piece of HTML: what it is of, its policies, what to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.planner.spot import words
from smtc_lab.views.figures.drawing import picture_of
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from smtc_lab.planner.spot.result import SpotForecast
    from smtc_lab.views.figures.drawing import Picture


def to_html(forecast: SpotForecast) -> str:
    """Return a forecast as HTML without scripts, which fetches nothing.

    What was measured is drawn over what was predicted.
    """
    return render(
        "display_spot.html.j2",
        about=words.about(forecast),
        head=words.HEAD,
        rows=words.rows_of(forecast),
        advice=words.advice(forecast),
        picture=_picture(forecast),
    )


def _picture(forecast: SpotForecast) -> Picture | None:
    if not forecast.measured:
        return None
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.figures.spot import spot_figure  # noqa: PLC0415

    return picture_of(spot_figure(forecast))
