"""The frame of every figure: size, title, subtitle, foot, and how it becomes a file."""

from __future__ import annotations

import io
import textwrap
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from smtc_lab.views.figures.theme import Theme

WIDTH_IN = 8.0
"""Width of a figure in inches: 800 pixels at 100 dots per inch."""

PNG_DPI = 200
"""Dots per inch of a written image: twice the size at which it is shown."""

NAME_COLUMNS = 26
"""A longer cluster name is cut in a figure; the table has it in full."""

_TITLE_COLUMNS = 66
_SMALL_COLUMNS = 108
_POINT_IN = 1 / 72


@contextmanager
def styled(theme: Theme) -> Iterator[None]:
    """Draw with this theme alone, whatever the user's own matplotlib settings are."""
    with style.context(["default", theme.rc()]), warnings.catch_warnings():
        # A name may hold letters that the font lacks; a box in the figure tells enough.
        warnings.filterwarnings(
            "ignore", message=r"Glyph .* missing from", category=UserWarning
        )
        yield


def framed_figure(
    theme: Theme, *, height_in: float, title: str, subtitle: Sequence[str], foot: str = ""
) -> Figure:
    """Return an empty figure of 800 pixels width with its title, subtitle and foot.

    Call it inside ``styled``. ``height_in`` is the height of the charts in inches, without
    title and foot.
    """
    # A line must not end between a number and its unit.
    title_lines = textwrap.wrap(title.replace(" %", "\u00a0%"), _TITLE_COLUMNS)
    subtitle_lines = [line for text in subtitle for line in textwrap.wrap(text, _SMALL_COLUMNS)]
    foot_lines = textwrap.wrap(foot, _SMALL_COLUMNS)
    title_in = len(title_lines) * 14 * 1.3 * _POINT_IN
    head_in = 0.14 + title_in + len(subtitle_lines) * 9.5 * 1.35 * _POINT_IN + 0.12
    foot_in = len(foot_lines) * 8.5 * 1.35 * _POINT_IN + (0.14 if foot_lines else 0)
    total_in = height_in + head_in + foot_in
    figure = Figure(figsize=(WIDTH_IN, total_in), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(
            rect=(0.01, foot_in / total_in, 0.98, height_in / total_in),  # type: ignore[call-arg]
        )
    left = 0.0175
    figure.text(
        left,
        1 - 0.14 / total_in,
        "\n".join(title_lines),
        va="top",
        size=14,
        weight="bold",
        linespacing=1.2,
    )
    figure.text(
        left,
        1 - (0.14 + title_in) / total_in,
        "\n".join(subtitle_lines),
        va="top",
        size=9.5,
        color=theme.muted,
    )
    figure.text(
        left, 0.1 / total_in, "\n".join(foot_lines), va="bottom", size=8.5, color=theme.muted
    )
    return figure


def empty_state(axes: Axes, theme: Theme, message: str) -> None:
    """Say in the place of a chart why there is none, and what would make one."""
    axes.set_axis_off()
    axes.text(
        0.5,
        0.5,
        textwrap.fill(message, 60),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=theme.muted,
    )


def rendered(figure: Figure, theme: Theme, file_format: Literal["png", "svg"]) -> bytes:
    """Return the figure as PNG or SVG; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata = (
        {"Date": None, "Creator": "smtc_lab"}
        if file_format == "svg"
        else {"Software": "smtc_lab"}
    )
    with styled(theme):
        figure.savefig(buffer, format=file_format, dpi=PNG_DPI, metadata=metadata)
    return buffer.getvalue()
