"""The rounds and the figures of ``notebooks/bench_experiments.ipynb``."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.experiments.logged_point import point_cost_s
from notebooks.benchmarks.experiments.made import (
    make_code,
    make_compared_runs,
    make_ended_runs,
    make_run,
)
from notebooks.benchmarks.experiments.waits import labs, shell_s
from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_thread, in_turns
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.store.identity.source import read_source
from smtc_lab.views.run_comparison.compare import MOST_RUNS
from smtc_lab.views.run_table.table import runs
from tests.kit.run_folders import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from notebooks.benchmarks.experiments.waits import Lab
    from notebooks.benchmarks.harness.figure import BenchFigure
    from smtc_lab.store.run_folder import RunFolder

_CONDITION = "loss < 0.3 and lr > 0.5"
_FILES = 50
_SHELL_ROWS = 20
_UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True)
class _Part:
    """Something that each round measures once: how long it takes, in seconds."""

    unit: str
    goal: float | None
    act: Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much there is to measure."""

    num_runs: int
    """Runs in the table: 1.6 GB for 10,000 of them."""

    num_points: int
    """Points of the run whose metrics are read."""

    curve_points: int
    """Points of each of ten metrics of the 50 runs that are compared: 0.5 GB for 10,000."""

    repeats: int
    """Rounds, interleaved; from six on figures have intervals."""

    rest_s: float = 6.0
    """How long a page is left alone before what is measured; a table that a server has read is
    read again after five seconds."""


def experiment_rows(folder: Path, sizes: Sizes) -> list[dict[str, Any]]:
    """Return what keeping track costs: a row for each part of each round, with the load then.

    Runs are first read once, which is the first row.

    Args:
        folder: Where runs are made.
        sizes: How many.

    Raises:
        RunFailedError: What was measured did not do what it should.
    """
    table, compared = folder / "table", folder / "compared"
    ended = table / "smtc_lab" / "runs"
    make_ended_runs(ended, sizes.num_runs)
    beside = compared / "smtc_lab" / "runs"
    make_compared_runs(beside, MOST_RUNS, points_each=sizes.curve_points)
    runs(beside)  # who compares runs has seen them in the table
    listed = partial(_took_s, sizes.num_runs, lambda: len(runs(ended)))
    first = f"{sizes.num_runs:,} ended runs, first reading of each"
    rows = [_row(first, 0, _Part("ms", None, listed), per=sizes.num_runs)]

    def all_rounds() -> None:
        with labs(table, compared, rest_s=sizes.rest_s) as (over_table, over_compared):
            parts = {
                **_in_python(folder, ended, sizes),
                **_in_shell(ended, sizes.num_runs),
                **_in_lab(over_table, over_compared, sizes),
            }
            for number in range(sizes.repeats):
                order = in_turns(list(parts), number)
                rows.extend(_row(name, number, parts[name]) for name in order)

    in_thread(all_rounds)
    return rows


def figures_of(rows: Sequence[dict[str, Any]]) -> list[BenchFigure]:
    """Return a figure for each part of which there are rows."""
    parts = {row["part"]: row for row in rows}
    return [
        bench_figure(
            name,
            [row["value"] for row in rows if row["part"] == name],
            unit=part["unit"],
            better="lower",
            goal=part["goal"],
        )
        for name, part in parts.items()
    ]


def _row(name: str, number: int, part: _Part, *, per: int = 1) -> dict[str, Any]:
    value = part.act() / _UNITS_S[part.unit] / per
    return {
        "part": name,
        "round": number,
        "value": value,
        "unit": part.unit,
        "goal": part.goal,
        "load": os.getloadavg()[0],
    }


def _in_python(folder: Path, ended: Path, sizes: Sizes) -> dict[str, _Part]:
    table = runs(ended)
    by_lr = partial(_took_s, sizes.num_runs, lambda: len(table.sort("lr")))
    num_chosen = _num_chosen(sizes.num_runs)
    where = partial(_took_s, num_chosen, lambda: len(table.where(_CONDITION)))
    listed = partial(_took_s, sizes.num_runs, lambda: len(runs(ended)))
    points = sizes.num_points
    run = opened(make_run(folder, "many-points", points=points))
    read = partial(_took_s, points, lambda: sum(len(m.value) for m in run.metrics().series))
    script = make_code(folder / "code", files=_FILES)
    kept = partial(_took_s, _FILES, lambda: _kept(run.folder, script))
    many = f"{sizes.num_runs:,} ended runs"
    return {
        "one metric point, trainer's time": _Part("us", 20, partial(point_cost_s, folder)),
        f"{many} listed again": _Part("ms", 300, listed),
        f"{many} sorted by a parameter": _Part("ms", 300, by_lr),
        f"{many}, where {_CONDITION}": _Part("ms", 300, where),
        f"metrics of {points:,} points read": _Part("s", 3, read),
        f"source of {_FILES} files kept and told": _Part("ms", 300, kept),
    }


def _in_shell(ended: Path, num_runs: int) -> dict[str, _Part]:
    command = f"{num_runs:,} ended runs, smtc-lab runs"
    shown = partial(shell_s, ended, lines=1 + min(_SHELL_ROWS, num_runs))
    chosen = min(_SHELL_ROWS, _num_chosen(num_runs))
    where = partial(shell_s, ended, "--where", _CONDITION, lines=1 + chosen)
    none = partial(shell_s, ended.parent / "none", lines=1)
    return {
        "no run, smtc-lab runs": _Part("ms", None, none),
        command: _Part("ms", 300, shown),
        f"{command} --sort lr": _Part("ms", 300, partial(shown, "--sort", "lr")),
        f"{command} --where": _Part("ms", 300, where),
    }


def _in_lab(table: Lab, compared: Lab, sizes: Sizes) -> dict[str, _Part]:
    shown = f"{sizes.num_runs:,} ended runs, JupyterLab's table"
    by_lr = partial(table.sorted_s, "param.lr", first="ended-0")
    where = partial(table.filtered_s, _CONDITION, found=_num_chosen(sizes.num_runs))
    names = [f"compared-{number}" for number in range(MOST_RUNS)]
    many = f"{MOST_RUNS} runs of 10 metrics of {sizes.curve_points:,} points"
    return {
        f"{shown}: opened": _Part("ms", 300, table.opened_s),
        f"{shown}: sorted": _Part("ms", 300, by_lr),
        f"{shown}: filtered": _Part("ms", 300, where),
        f"{many}, JupyterLab's comparison: first picture": _Part(
            "s", 1, partial(compared.compared_s, names)
        ),
    }


def _num_chosen(num_runs: int) -> int:
    return sum(number / num_runs > 0.5 for number in range(num_runs))


def _took_s(expected: int, act: Callable[[], int]) -> float:
    """Return how long something takes that returns how many it found, in seconds."""
    began_s = time.perf_counter()
    found = act()
    took_s = time.perf_counter() - began_s
    if found != expected:
        raise RunFailedError(
            f"{found} were found in place of {expected}, so that the time says nothing. Mend "
            "what was measured, then measure again."
        )
    return took_s


def _kept(folder: RunFolder, script: Path) -> int:
    keep_source(folder, str(script))
    source = read_source(folder)
    return 0 if source is None else len(source.files)
