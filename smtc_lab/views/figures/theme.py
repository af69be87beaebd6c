"""Colours, line styles, marks and fonts of every figure: one palette, light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

LineStyle = str | tuple[int, tuple[int, ...]]

Part = Literal["cpu", "device"]
"""A part of a cluster, which has colours that no set-up has."""

_LINE_STYLES: tuple[LineStyle, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v")
_HATCHES = ("", "///", "...", "xxx", "---")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """How one cluster is drawn in every figure. Colour is never the only difference."""

    color: str
    """Its colour, ``#rrggbb``."""

    line_style: LineStyle
    """Its line style."""

    marker: str
    """Its marker."""

    hatch: str
    """The hatch of its bars."""

    def points(self) -> dict[str, Any]:
        """Return how its single steps are plotted."""
        return {
            "linestyle": "none",
            "marker": self.marker,
            "markersize": 3.2,
            "markeredgewidth": 0,
            "color": self.color,
            "alpha": 0.4,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """The colours of one variant of all figures, each ``#rrggbb``."""

    name: Literal["light", "dark"]
    """Its name, a part of file names."""

    paper: str
    """Background."""

    ink: str
    """Text and error bars."""

    muted: str
    """Subtitles, ticks and notes."""

    grid: str
    """Grid lines."""

    shade: str
    """Areas that are not measured: start-up and warm-up."""

    hatch: str
    """Lines of a hatched bar."""

    colors: tuple[str, ...]
    """Colours of the clusters, in their order."""

    parts: Mapping[Part, tuple[str, ...]]
    """Colours of each part of a cluster, those of the live charts: one after the other for its
    instance groups."""

    def mark(self, place: int) -> Mark:
        """Return how the cluster at this place of the comparison is drawn."""
        return Mark(
            color=self.colors[place % len(self.colors)],
            line_style=_LINE_STYLES[place % len(_LINE_STYLES)],
            marker=_MARKERS[place % len(_MARKERS)],
            hatch=_HATCHES[place % len(_HATCHES)],
        )

    def part(self, part: Part, number: int = 0) -> Mark:
        """Return how a part of a cluster is drawn.

        Args:
            part: Which one.
            number: Of its instance group, from 0.
        """
        colors = self.parts[part]
        return Mark(
            color=colors[number % len(colors)],
            line_style=_LINE_STYLES[number % len(_LINE_STYLES)],
            marker=_MARKERS[number % len(_MARKERS)],
            hatch="",
        )

    def rc(self) -> dict[str, object]:
        """Return the matplotlib settings of this theme."""
        return {
            "figure.facecolor": self.paper,
            "axes.facecolor": self.paper,
            "savefig.facecolor": self.paper,
            "font.family": ["DejaVu Sans"],
            "font.size": 10.5,
            "text.color": self.ink,
            # A cluster may be called "$x$"; names are text, not formulas.
            "text.parse_math": False,
            "axes.edgecolor": self.muted,
            "axes.labelcolor": self.ink,
            "axes.labelsize": 10.5,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.grid": True,
            "axes.unicode_minus": True,
            "grid.color": self.grid,
            "grid.linewidth": 0.8,
            "xtick.color": self.muted,
            "ytick.color": self.muted,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "xtick.labelsize": 9.5,
            "ytick.labelsize": 9.5,
            "legend.frameon": False,
            "legend.fontsize": 10,
            "hatch.linewidth": 0.8,
            "lines.linewidth": 2,
            "svg.fonttype": "path",
            # A fixed salt gives the same ids, and so the same bytes, on every run.
            "svg.hashsalt": "smtc_lab",
        }


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1f2328",
    muted="#59636e",
    grid="#e4e7eb",
    shade="#eceff2",
    hatch="#ffffff",
    colors=("#0072b2", "#d55e00", "#007a5a", "#a8488f", "#d6336c"),
    parts={
        "cpu": ("#6f86a3", "#3d5475", "#1f2f47"),
        "device": ("#85246d", "#b8509e", "#521041"),
    },
)
"""For white pages. The hues are those of Okabe and Ito's palette for colour-blind readers,
darkened to a contrast of at least 3 on white. Source: https://jfly.uni-koeln.de/color/"""

DARK = Theme(
    name="dark",
    paper="#14171c",
    ink="#e8eaed",
    muted="#a3abb5",
    grid="#2b3038",
    shade="#232830",
    hatch="#14171c",
    colors=("#56b4e9", "#f0883e", "#2fc39a", "#e59ad0", "#ff6b81"),
    parts={
        "cpu": ("#7590b8", "#b3c6e0", "#dde6f2"),
        "device": ("#f2a8de", "#d573bb", "#fbe0f4"),
    },
)
"""For dark pages: the same hues, lightened."""

ON_ANY_PAPER = ("#2b8cc9", "#dd6a12", "#159a76", "#b95fa3", "#e0495f")
"""For marks on a page whose theme is not known: the same hues, between light and dark."""
