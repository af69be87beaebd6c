"""Pictures and mime bundles: what stays legible with no kernel and no script."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.neutral_text import neutral_json
from smtc_lab.views.text.rendering import png_uri

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from smtc_lab.metrics.result import Interval


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure as it is shown."""

    png: bytes
    """Twice as many pixels as it is shown with."""

    width: int
    """In CSS pixels."""

    height: int
    """In CSS pixels."""

    @property
    def uri(self) -> Markup:
        """It as a ``data:`` address."""
        return png_uri(self.png)


def picture_of(figure: Figure) -> Picture:
    """Return a figure of the light theme as a picture."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.figures.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.figures.theme import LIGHT  # noqa: PLC0415

    width, height = (round(inches * 100) for inches in figure.get_size_inches())
    return Picture(png=rendered(figure, LIGHT, "png"), width=width, height=height)


def mime_bundle(
    own: dict[str, Any], *, html: str, text: str, picture: Picture | None
) -> dict[str, Any]:
    """Return what a notebook keeps, all its texts neutral.

    Args:
        own: JSON of our own types, by their names.
        html: What is legible without a script.
        text: What is legible everywhere.
        picture: A figure; None: there is none.
    """
    bundle: dict[str, Any] = neutral_json({**own, "text/html": html, "text/plain": text})
    if picture is not None:
        bundle["image/png"] = base64.b64encode(picture.png).decode("ascii")
    return bundle


def arms(value: Interval | None) -> list[list[float]] | None:
    """Return how far an interval reaches on each side, as matplotlib takes it.

    Returns:
        None: there is no interval to draw, as of one value alone.
    """
    if value is None or value.low == value.high:
        return None
    return [[max(0.0, value.mean - value.low)], [max(0.0, value.high - value.mean)]]
