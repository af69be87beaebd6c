"""Counts how often what smtc_lab says of simulated launches is true."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import ttest_ind

from notebooks.benchmarks.truth.processes import PROCESSES, Process, step_times
from smtc_lab.metrics.intervals import LEVEL, ratio_interval
from smtc_lab.metrics.warm_up import common_warm_up, is_settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval

Row = dict[str, Any]
"""One cell: what was simulated, and what was counted."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is simulated many times."""

    process: Process
    launches: int
    """Launches of each set-up."""

    steps: int
    """Steps of a launch."""

    candidates: int = 1
    """Set-ups beside the baseline."""

    ratio: float = 1.0
    """How much faster the candidates truly are; 1: A/A."""

    is_live: bool = False
    """Whether each round from the second one to the last but one is looked at, too."""


def every_cell() -> Iterator[Cell]:
    """Yield the cells: A/A everywhere, A/B, more candidates, and more looks.

    Launches that end before their queue has emptied are left out: nothing in them tells of it.
    """
    for process in PROCESSES:
        for launches, steps in (*product((2, 3, 5, 8), (30, 100)), (3, 1000)):
            if steps > process.warm_up:
                yield Cell(process=process, launches=launches, steps=steps)
        yield Cell(process=process, launches=5, steps=100, ratio=1.25)
        for candidates in (2, 3, 4):
            yield Cell(process=process, launches=3, steps=100, candidates=candidates)
        for launches, candidates in ((3, 1), (8, 1), (8, 3)):
            yield Cell(
                process=process,
                launches=launches,
                steps=100,
                candidates=candidates,
                is_live=True,
            )


def counted_cells(*, repetitions: int, seed: int) -> Iterator[Row]:
    """Yield what was counted in each cell, counted on all cores.

    Args:
        repetitions: Comparisons that are simulated of each cell.
        seed: The same seed counts the same.
    """
    cells = list(every_cell())
    seeds = range(seed, seed + len(cells))
    count = partial(counted, repetitions=repetitions)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield from pool.map(count, cells, seeds)


def counted(cell: Cell, seed: int, *, repetitions: int) -> Row:
    """Return what was counted over so many comparisons of one cell.

    ``coverage``: share in which all candidates' intervals hold the truth; ``wrong``: share that
    claims a difference to the wrong side, or any where there is none; both of those that are
    not told to be unsettled. ``wrong_live``: share in which any live look did.
    ``unsettled``: share that is told to be so. ``width``: median of high over low, less 1;
    ``width_of_welch``: the same of Welch's t on logarithms, over all candidates alike.
    """
    rng = np.random.default_rng(seed)
    held, wrong, live, unsettled = [], [], [], 0
    widths, welch = [], []
    for _ in range(repetitions):
        made = step_times(
            cell.process,
            rng,
            set_ups=cell.candidates + 1,
            launches=cell.launches,
            steps=cell.steps,
        )
        made[1:] /= cell.ratio
        found = _looked_at(cell, made, cell.launches, looks=1)
        if found is None:
            unsettled += 1
            continue
        held.append(all(each.low <= cell.ratio <= each.high for each in found))
        wrong.append(_is_wrong(cell, found))
        widths.append(found[0].high / found[0].low - 1)
        welch.append(_welch_width(cell, made))
        if cell.is_live:
            rounds = range(2, cell.launches)
            seen = [_looked_at(cell, made, each, looks=max(1, len(rounds))) for each in rounds]
            live.append(any(_is_wrong(cell, each) for each in seen if each is not None))
    return {
        **{name: value for name, value in asdict(cell).items() if name != "process"},
        "process": cell.process.name,
        "repetitions": repetitions,
        "unsettled": unsettled / repetitions,
        "coverage": _mean(held),
        "wrong": _mean(wrong),
        "wrong_live": _mean(live),
        "width": _median(widths),
        "width_of_welch": _median(welch),
    }


def _looked_at(
    cell: Cell, made: NDArray[np.float64], rounds: int, *, looks: int
) -> list[Interval] | None:
    """Return each candidate's speed-up after some rounds; None: told to be unsettled."""
    sides = [list(launches[:rounds]) for launches in made]
    cut = common_warm_up([launch for side in sides for launch in side])
    if not all(is_settled(side, cut) for side in sides):
        return None
    baseline, *others = [[launch[cut:] for launch in side] for side in sides]
    return [
        ratio_interval(baseline, other, candidates=cell.candidates, looks=looks)
        for other in others
    ]


def _is_wrong(cell: Cell, found: Sequence[Interval]) -> bool:
    right = 0 if cell.ratio == 1.0 else 1
    return any(each.side_of(1.0) not in {0, right} for each in found)


def _welch_width(cell: Cell, made: NDArray[np.float64]) -> float:
    one, other = np.log(made[0].mean(axis=1)), np.log(made[1].mean(axis=1))
    level = 1 - (1 - LEVEL) / cell.candidates
    ends = ttest_ind(one, other, equal_var=False).confidence_interval(level)
    return float(np.expm1(ends.high - ends.low))


def _mean(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if values else None


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None
