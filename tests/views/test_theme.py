from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.views.figures.theme import DARK, LIGHT, ON_ANY_PAPER, Theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKENS = (
    Path(__file__).parents[2] / "extensions" / "ui" / "src" / "styles" / "tokens.css"
).read_text(encoding="utf-8")

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
_DEFICIENCIES = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def _linear(color: str) -> NDArray[np.float64]:
    values = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _contrast(first: str, second: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    dark, light = sorted(float(weights @ _linear(color)) for color in (first, second))
    return (light + 0.05) / (dark + 0.05)


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_stand_out_from_the_paper(theme: Theme) -> None:
    assert all(_contrast(color, theme.paper) >= 3 for color in theme.colors)
    assert _contrast(theme.ink, theme.paper) >= 7
    assert _contrast(theme.muted, theme.paper) >= 4.5


@pytest.mark.parametrize("paper", ["#ffffff", "#111111"])
def test_marks_on_any_paper_are_seen_on_white_and_on_black(paper: str) -> None:
    assert all(_contrast(color, paper) >= 3 for color in ON_ANY_PAPER)


@pytest.mark.parametrize(
    "colors", [LIGHT.colors, DARK.colors, ON_ANY_PAPER], ids=["light", "dark", "any"]
)
@pytest.mark.parametrize("deficiency", _DEFICIENCIES)
def test_colours_differ_for_colour_blind_readers(
    colors: tuple[str, ...], deficiency: str
) -> None:
    matrix = np.array(_DEFICIENCIES[deficiency])
    seen = [_lab(matrix @ _linear(color)) for color in colors]

    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 9


def test_clusters_differ_by_more_than_colour() -> None:
    marks = [LIGHT.mark(place) for place in range(5)]

    for first, second in pairwise(marks):
        assert first.marker != second.marker
        assert first.line_style != second.line_style
        assert first.hatch != second.hatch


def test_a_cluster_keeps_its_mark_in_light_and_dark() -> None:
    for place in range(7):
        light, dark = LIGHT.mark(place), DARK.mark(place)
        assert (light.marker, light.line_style, light.hatch) == (
            dark.marker,
            dark.line_style,
            dark.hatch,
        )


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_parts_stand_out_from_the_paper_in_colours_that_no_cluster_has(theme: Theme) -> None:
    colors = [color for part in theme.parts.values() for color in part]

    assert all(_contrast(color, theme.paper) >= 3 for color in colors)
    assert len({*colors, *theme.colors}) == len(colors) + len(theme.colors)


@pytest.mark.parametrize(("theme", "place"), [(LIGHT, 0), (DARK, 1)], ids=["light", "dark"])
def test_parts_have_the_colours_of_the_live_charts(theme: Theme, place: int) -> None:
    tokens = dict(re.findall(r"--smtc-part-([a-z0-9-]+): light-dark\((.*?)\);", TOKENS))

    for name, part in {"cpu": "cpu", "dev": "device"}.items():
        live = [tokens[f"{name}{number}"].split(", ")[place] for number in ("", "-1", "-2")]
        assert list(theme.parts[part]) == live
