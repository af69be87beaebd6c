"""The rounds and the figures of ``notebooks/bench_experiments.ipynb``."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from notebooks.benchmarks.experiments.logged_point import point_cost_s
from notebooks.benchmarks.experiments.made import make_code, make_ended_runs, make_run
from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_turns
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.store.identity.source import read_source
from smtc_lab.views.run_table.table import runs
from tests.kit.run_folders import opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notebooks.benchmarks.harness.figure import BenchFigure
    from smtc_lab.store.run_folder import RunFolder

_CONDITION = "loss < 0.3 and lr > 0.5"
_FILES = 50
_UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def experiment_figures(
    folder: Path, *, num_runs: int, num_points: int, repeats: int
) -> list[BenchFigure]:
    """Return what keeping track costs, over interleaved rounds; runs are first read once.

    Args:
        folder: Where runs are made: 1.6 GB for 10,000 of them.
        num_runs: Runs in the table.
        num_points: Points of the run whose metrics are read.
        repeats: Rounds.

    Raises:
        RunFailedError: What was measured did not do what it should.
    """
    ended = folder / "ended"
    make_ended_runs(ended, num_runs)
    listed = partial(_took_s, num_runs, lambda: len(runs(ended)))
    first_ms = listed() / _UNITS_S["ms"] / num_runs
    table = runs(ended)
    chosen = sum(number / num_runs > 0.5 for number in range(num_runs))
    by_lr = partial(_took_s, num_runs, lambda: len(table.sort("lr")))
    where = partial(_took_s, chosen, lambda: len(table.where(_CONDITION)))
    run = opened(make_run(folder, "many-points", points=num_points))
    read = partial(_took_s, num_points, lambda: sum(len(m.value) for m in run.metrics().series))
    script = make_code(folder / "code", files=_FILES)
    kept = partial(_took_s, _FILES, lambda: _kept(run.folder, script))
    many = f"{num_runs:,} ended runs"
    parts: dict[str, tuple[str, float, Callable[[], float]]] = {
        "one metric point, trainer's time": ("us", 20, partial(point_cost_s, folder)),
        f"{many} listed again": ("ms", 300, listed),
        f"{many} sorted by a parameter": ("ms", 300, by_lr),
        f"{many}, where {_CONDITION}": ("ms", 300, where),
        f"metrics of {num_points:,} points read": ("s", 3, read),
        f"source of {_FILES} files kept and told": ("ms", 300, kept),
    }
    found: dict[str, list[float]] = {name: [] for name in parts}
    for number in range(repeats):
        for name in in_turns(list(parts), number):
            unit, _, act = parts[name]
            found[name].append(act() / _UNITS_S[unit])
    return [
        *(
            bench_figure(name, found[name], unit=unit, better="lower", goal=goal)
            for name, (unit, goal, _) in parts.items()
        ),
        bench_figure(f"{many}, first reading of each", [first_ms], unit="ms", better="lower"),
    ]


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
