"""Every static figure of a comparison, and how they are written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.views.figures.compiler import (
    COMPILER_FIGURE_NAMES,
    cumulative_figure,
    factors_figure,
)
from smtc_lab.views.figures.cost import cost_figure, overview_figure
from smtc_lab.views.figures.frame import rendered
from smtc_lab.views.figures.steps import distribution_figure, step_time_figure
from smtc_lab.views.figures.theme import DARK, LIGHT
from smtc_lab.views.figures.utilization import utilization_figure
from smtc_lab.views.text.compiler import compilers_differ, has_compilers
from smtc_lab.views.text.words import tells_cost

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.figures.theme import Theme

__all__ = [
    "FIGURE_NAMES",
    "cost_figure",
    "cumulative_figure",
    "distribution_figure",
    "factors_figure",
    "figure_names",
    "make_figure",
    "overview_figure",
    "save_figures",
    "step_time_figure",
    "utilization_figure",
]

FIGURE_NAMES = ("overview", "step_time", "distribution", "cost", "utilization")
"""The figures in the order in which a report shows them; also their file names."""


def figure_names(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of the figures of a comparison: of those that say something.

    Compilers have some of their own, where they differ.
    """
    left_out = {
        "cost": not tells_cost(comparison),
        "cumulative": not compilers_differ(comparison),
        "factors": not (comparison.factors and has_compilers(comparison)),
    }
    return tuple(
        name for name in FIGURE_NAMES + COMPILER_FIGURE_NAMES if not left_out.get(name, False)
    )


def make_figure(
    name: str, comparison: Comparison, runs: Sequence[RunRecords], *, theme: Theme = LIGHT
) -> Figure:
    """Return one figure by its name.

    Raises:
        ValueError: There is no figure of this name.
    """
    match name:
        case "overview":
            figure = overview_figure(comparison, theme=theme)
        case "step_time":
            figure = step_time_figure(comparison, runs, theme=theme)
        case "distribution":
            figure = distribution_figure(comparison, runs, theme=theme)
        case "cost":
            figure = cost_figure(comparison, theme=theme)
        case "utilization":
            figure = utilization_figure(comparison, runs, theme=theme)
        case "cumulative":
            figure = cumulative_figure(comparison, runs, theme=theme)
        case "factors":
            figure = factors_figure(comparison, theme=theme)
        case _:
            names = ", ".join(figure_names(comparison))
            raise ValueError(f"There is no figure {name!r}. Choose among {names}.")
    return figure


def save_figures(
    comparison: Comparison, runs: Sequence[RunRecords], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write each figure as ``NAME.png``, ``NAME.svg`` and ``NAME-dark.png``.

    The same comparison gives the same bytes. The folder is made when it is not there.

    Returns:
        The files that were written.

    Raises:
        StoreError: A file cannot be written.
    """
    target = Path(folder)
    paths = []
    for name in figure_names(comparison):
        light = make_figure(name, comparison, runs, theme=LIGHT)
        dark = make_figure(name, comparison, runs, theme=DARK)
        for file_name, data in (
            (f"{name}.png", rendered(light, LIGHT, "png")),
            (f"{name}.svg", rendered(light, LIGHT, "svg")),
            (f"{name}-dark.png", rendered(dark, DARK, "png")),
        ):
            paths.append(target / file_name)
            _write(paths[-1], data)
    return paths


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StoreError(
            f"The figure {str(path)!r} cannot be written: {error.strerror}. Choose a folder "
            "that you may write to, on a disk with free space."
        ) from error
