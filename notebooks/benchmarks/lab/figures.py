"""The figures of the server extension, with their goals."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.harness.rounds import in_thread
from notebooks.benchmarks.lab.made_runs import growing_runs, make_ended_runs
from notebooks.benchmarks.lab.scenarios import (
    Watched,
    enable,
    time_to_list,
    watch_list,
    watch_runs,
)
from notebooks.benchmarks.views.figures import quantile
from smtc_lab.store.run_folder import RunFolder
from tests.kit.browser.jupyter import running_server

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

T = TypeVar("T")

_STEPS_PER_S = 5.0
_PAGE_LOAD_S = 2.0
"""What JupyterLab's page takes to load; no panel asks a server sooner."""


@dataclass(frozen=True, kw_only=True)
class LabRound:
    """What one round measured, each with a Jupyter server of its own."""

    load_s: float
    """Time that the extension adds to the start of a server, in seconds."""

    first_list_s: float
    """From opening a tab to the list of all runs, the first time, in seconds."""

    list_s: float
    """The same in a second tab."""

    listed: Watched
    """Growing runs, watched in the list."""

    one: Watched
    """One of them, watched with all its charts."""

    all: Watched
    """All of them, each watched with all its charts."""


def figures(
    *, rounds: int = 6, num_ended: int = 1000, num_live: int = 50, seconds: float = 8.0
) -> list[BenchFigure]:
    """Measure, and return the figures.

    Args:
        rounds: Repeats; from six on figures have intervals.
        num_ended: Runs that have ended.
        num_live: Runs that grow, by five steps a second each.
        seconds: How long each kind of watching is measured.
    """
    measured = [
        measure_round(num_ended=num_ended, num_live=num_live, seconds=seconds)
        for _ in range(rounds)
    ]
    return lab_figures(measured, num_ended=num_ended, num_live=num_live)


def measure_round(*, num_ended: int, num_live: int, seconds: float) -> LabRound:
    """Measure once, with a new server."""
    load_s = _load_s()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "notebooks").mkdir()
        enable(home / "config")
        root = home / "smtc_lab" / "runs"
        make_ended_runs(root, num_ended)
        with running_server(Path(sys.executable), home / "notebooks", home=home) as server:
            time.sleep(_PAGE_LOAD_S)
            pid = int(next((home / "runtime").glob("jpserver-*.json")).stem.split("-")[1])
            first_list_s = _awaited(time_to_list(server))
            list_s = _awaited(time_to_list(server))
            with growing_runs(root, num_live, steps_per_s=_STEPS_PER_S) as names:
                folders = [RunFolder(root / name) for name in names]
                return LabRound(
                    load_s=load_s,
                    first_list_s=first_list_s,
                    list_s=list_s,
                    listed=_awaited(watch_list(server, pid, seconds=seconds)),
                    one=_awaited(watch_runs(server, pid, folders[:1], seconds=seconds)),
                    all=_awaited(watch_runs(server, pid, folders, seconds=seconds)),
                )


def lab_figures(
    rounds: Sequence[LabRound], *, num_ended: int, num_live: int
) -> list[BenchFigure]:
    """Return the figures of some rounds."""
    return [
        _figure(
            "extension's share of the server's start",
            "ms",
            50,
            [1000 * one.load_s for one in rounds],
        ),
        _figure(
            f"{num_ended} runs listed, first tab of a server",
            "ms",
            300,
            [1000 * one.first_list_s for one in rounds],
        ),
        _figure(
            f"{num_ended} runs listed, second tab",
            "ms",
            300,
            [1000 * one.list_s for one in rounds],
        ),
        _figure(
            f"{num_live} live runs in the list: server's CPU",
            "% of a core",
            10,
            [100 * one.listed.cpu_fraction for one in rounds],
        ),
        _figure(
            f"{num_live} live runs with all charts: server's CPU",
            "% of a core",
            None,
            [100 * one.all.cpu_fraction for one in rounds],
        ),
        *_latencies("1 run with all charts", [one.one for one in rounds]),
        *_latencies(f"{num_live} runs with all charts", [one.all for one in rounds]),
    ]


def _latencies(what: str, watched: Sequence[Watched]) -> list[BenchFigure]:
    return [
        _figure(
            f"{what}: step's end to bytes, p{round(100 * share)}",
            "ms",
            goal_ms,
            [1000 * quantile(one.latency_s, share) for one in watched],
        )
        for share, goal_ms in ((0.5, 150), (0.95, 300))
    ]


def _figure(name: str, unit: str, goal: float | None, repeats: Sequence[float]) -> BenchFigure:
    return bench_figure(name, repeats, unit=unit, better="lower", goal=goal)


def _load_s() -> float:
    program = (
        "import time, jupyter_server.serverapp as server\n"
        "app = server.ServerApp(allow_root=True, port=0)\n"
        "app.init_configurables(); app.init_webapp()\n"
        "begin = time.perf_counter()\n"
        "import smtc_lab.views.server as extension\n"
        "extension._load_jupyter_server_extension(app)\n"
        "print(time.perf_counter() - begin)"
    )
    seconds: float = measured("a server's load", "-c", program)
    return seconds


def _awaited(coroutine: Coroutine[Any, Any, T]) -> T:
    return in_thread(partial(asyncio.run, coroutine))
