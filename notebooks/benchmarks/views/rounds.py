"""All scenarios in interleaved rounds, on one server and in one browser."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.rounds import in_thread, in_turns
from notebooks.benchmarks.views import ours, peers
from notebooks.benchmarks.views.figures import Measured
from notebooks.benchmarks.views.latency import step_latencies_s
from notebooks.benchmarks.views.openings import long_run_s, workbench_s
from notebooks.benchmarks.views.pictured import change_latencies_s, live_picture
from notebooks.benchmarks.views.scenario import Seen, run_scenario
from tests.kit.browser.chromium import running_browser
from tests.kit.browser.jupyter import running_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server


@dataclass(kw_only=True)
class Everything:
    """What all rounds showed."""

    peers: list[Measured] = field(default_factory=list)
    """Live charts of all libraries, at each rate."""

    dashboards: dict[int, list[Seen]] = field(default_factory=dict)
    """By number of charts, each round."""

    floods: list[Seen] = field(default_factory=list)
    """Many rows in one call, each round."""

    trickles: list[Seen] = field(default_factory=list)
    """As many rows as a loop pushes one by one, each round."""

    live_pictures: list[Seen] = field(default_factory=list)
    """Live pictures below eight charts, each round."""

    changes_s: list[list[float]] = field(default_factory=list)
    """From a change in a picture to its prediction, of each change, each round."""

    latencies_s: list[list[float]] = field(default_factory=list)
    """From a step's end to its point, of each step, each round."""

    openings_s: dict[str, list[float]] = field(default_factory=dict)
    """From a cell's start in a fresh kernel until its view is seen, by view, each round."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How long and how much."""

    rates: Sequence[float]
    """Updates per second of the charts beside their peers."""

    seconds: float
    """Of each measurement."""

    flood_seconds: float
    """Of each flood."""

    repeats: int
    """Rounds."""


def measure(libraries: Sequence[str], sizes: Sizes) -> Everything:
    """Measure everything."""
    return in_thread(partial(_measure, libraries, sizes))


def _measure(libraries: Sequence[str], sizes: Sizes) -> Everything:
    found = Everything()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root = home / "notebooks"
        root.mkdir()
        server = stack.enter_context(running_server(Path(sys.executable), root, home=home))
        browser = stack.enter_context(running_browser())
        for number in range(sizes.repeats):
            _beside_peers(found, server, browser, libraries, sizes, number)
            _alone(found, server, browser, sizes)
            found.changes_s.append(change_latencies_s(server, browser))
            found.latencies_s.append(step_latencies_s(server, browser, home / "smtc_lab"))
            for what, opening_s in (
                ("first Workbench of a kernel", workbench_s(server, browser)),
                ("run of 1,000,000 steps", long_run_s(server, browser, home / "long")),
            ):
                found.openings_s.setdefault(what, []).append(opening_s)
    return found


def _beside_peers(  # noqa: PLR0913, PLR0917  where and what
    found: Everything,
    server: Server,
    browser: Browser,
    libraries: Sequence[str],
    sizes: Sizes,
    number: int,
) -> None:
    from playwright.sync_api import Error as PlaywrightError  # noqa: PLC0415  benchmarks only

    for rate in sizes.rates:
        for library in in_turns(libraries, number):
            try:
                seen = run_scenario(
                    server,
                    browser,
                    f"{library}_{rate:g}",
                    peers.cells(library, updates_per_s=rate, seconds=sizes.seconds),
                    shown=peers.SHOWN[library],
                )
            except PlaywrightError as error:
                text = str(error).splitlines()[0]
                print(f"{library}, {rate:g} updates/s, left out of round {number}: {text}")  # noqa: T201  the notebook's reader
                continue
            what = f"{rate:g} updates/s"
            found.peers.append(Measured(what=what, library=library, round=number, seen=seen))


def _alone(found: Everything, server: Server, browser: Browser, sizes: Sizes) -> None:
    for charts in (8, 16):
        cells = ours.dashboard(charts, updates_per_s=30, seconds=sizes.seconds)
        seen = run_scenario(
            server, browser, f"dashboard_{charts}", cells, shown=peers.SHOWN["smtc_lab"]
        )
        found.dashboards.setdefault(charts, []).append(seen)
    cells = live_picture(server, 8, instances=64, updates_per_s=30, seconds=sizes.seconds)
    seen = run_scenario(server, browser, "live_picture", cells, shown=".smtc-pictures figure")
    found.live_pictures.append(seen)
    for kept, rows_per_s, one_by_one in (
        (found.floods, 300_000, False),
        (found.trickles, 100_000, True),
    ):
        cells = ours.flood(
            rows_per_s=rows_per_s, seconds=sizes.flood_seconds, one_by_one=one_by_one
        )
        kept.append(
            run_scenario(server, browser, "flood", cells, shown=peers.SHOWN["smtc_lab"])
        )
