"""The figures of a benchmark: one form for every ``notebooks/bench_*.ipynb``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.stats import binom

from smtc_lab.machine.cores import machine_facts, versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class BenchFigure:
    """One measured number with its goal."""

    name: str
    """What was measured."""

    value: float
    """Median of the repeats."""

    low: float | None
    """Lower end of the median's 95 % interval; None: fewer than six repeats."""

    high: float | None
    """Upper end of the median's 95 % interval; None: fewer than six repeats."""

    unit: str
    """Unit of value, low, high and goal."""

    peer: str | None
    """What it is a ratio to; None: an absolute figure."""

    goal: float | None
    """What it should reach; None: none was set."""

    better: Literal["higher", "lower"]
    """Which direction is better."""

    holds: bool | None
    """Whether the value reaches the goal; None: no goal."""


def bench_figure(  # noqa: PLR0913  the form has these fields
    name: str,
    repeats: Sequence[float],
    *,
    unit: str,
    better: Literal["higher", "lower"],
    goal: float | None = None,
    peer: str | None = None,
) -> BenchFigure:
    """Return the figure of some repeats: their median with its 95 % interval.

    The interval runs from one repeat to another, so it holds for numbers of any distribution.
    Five repeats or fewer have no such interval: even their whole range holds the median in less
    than 95 % of cases.

    Args:
        name: What was measured.
        repeats: At least one finite number.
        unit: Unit of the numbers.
        better: Which direction is better.
        goal: What it should reach.
        peer: What it is a ratio to.

    Raises:
        ValueError: There is no repeat, or one is not finite.
    """
    values = np.sort(np.asarray(repeats, dtype=np.float64))
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"The figure {name!r} has the repeats {list(repeats)}, but needs at least one, all "
            "finite. Look at the cell that measured them."
        )
    value = float(np.median(values))
    holds = None
    if goal is not None:
        holds = value >= goal if better == "higher" else value <= goal
    # How many repeats are below the median is binomial: so many may lie outside on each side.
    outside = int(binom.ppf(0.025, values.size, 0.5))
    return BenchFigure(
        name=name,
        value=value,
        low=float(values[outside - 1]) if outside else None,
        high=float(values[-outside]) if outside else None,
        unit=unit,
        peer=peer,
        goal=goal,
        better=better,
        holds=holds,
    )


def write_figures(
    path: str | Path,
    figures: Sequence[BenchFigure],
    *,
    rows: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Write the result of a benchmark as JSON: ``machine``, ``versions``, ``figures``.

    Args:
        path: The file.
        figures: What was found.
        rows: What the figures are made of, kept beside them as ``rows``; None: nothing is.
    """
    result: dict[str, Any] = {
        "machine": machine_facts(),
        "versions": versions(),
        "figures": [asdict(figure) for figure in figures],
    }
    if rows is not None:
        result["rows"] = list(rows)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
