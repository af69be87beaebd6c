"""What the extension costs a page of JupyterLab, and how quick its list and dashboards are."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.rounds import in_thread
from notebooks.benchmarks.lab.made_runs import growing_runs, make_ended_runs
from notebooks.benchmarks.views.figures import quantile
from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder
from tests.kit.browser.chromium import running_browser
from tests.kit.browser.jupyter import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, Page, Route

    from tests.kit.browser.jupyter import Server

_OURS = "@smtc-lab/lab"
_CONFIG = re.compile(
    r'(?<=id="jupyter-config-data" type="application/json">).*?(?=</script>)', re.DOTALL
)
_RESTORED = "() => window.jupyterapp?.restored.then(() => performance.now() / 1000) ?? null"
_SCRIPTS = """seconds => performance.getEntriesByType('resource')
  .filter(({ name, startTime }) =>
    name.includes('/@smtc-lab/lab/static/') && startTime < 1000 * seconds)
  .map(({ name }) => name)"""
_LIST = """async () => {
  const begin = performance.now();
  window.jupyterapp.commands.execute('smtc-lab:show-runs');
  while (!document.querySelector('.jp-Smtc-row')) { await new Promise(requestAnimationFrame); }
  return (performance.now() - begin) / 1000;
}"""
_FRAMES = """async ([seconds, pixels]) => {
  const list = document.querySelector('.jp-Smtc-list');
  const begin = performance.now();
  let frames = 0;
  while (performance.now() < begin + 1000 * seconds) {
    list.scrollTop += pixels;
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return 1000 * frames / (performance.now() - begin);
}"""
_DRAWN = """async seconds => {
  const begin = performance.now();
  const drawn = [];
  while (performance.now() < begin + 1000 * seconds) {
    await new Promise(requestAnimationFrame);
    const chart = document.querySelector('.jp-Smtc-main .smtc-chart');
    const rows = Number(chart?.dataset.rows ?? 0);
    if (rows > (drawn.at(-1)?.[0] ?? 0)) { drawn.push([rows, Date.now() / 1000]); }
  }
  return drawn;
}"""
_STEPS_PER_S = 5.0


@dataclass(frozen=True, kw_only=True)
class PageRound:
    """What one round measured."""

    start_s: float
    """From the navigation until JupyterLab is up, with the extension, in seconds."""

    bare_start_s: float
    """The same without the extension."""

    start_bytes: int
    """JavaScript of the extension that JupyterLab waits for."""

    zipped_bytes: int
    """The same as gzip makes it."""

    list_s: float
    """From the command that shows the list, in a page at rest, to its rows, in seconds."""

    scroll_frames_per_s: float
    """While the list is scrolled by a row each frame."""

    live_frames_per_s: float
    """While the list shows runs that grow, and a dashboard one of them."""

    latency_s: tuple[float, ...]
    """From the end of each step to the frame whose chart has it, in seconds."""


def page_figures(
    *, rounds: int = 6, num_ended: int = 1000, num_live: int = 50, seconds: float = 5.0
) -> list[BenchFigure]:
    """Measure with a server and a browser of its own, and return the figures.

    Args:
        rounds: Repeats, interleaved; from six on figures have intervals.
        num_ended: Runs that have ended.
        num_live: Runs that grow, by five steps a second each.
        seconds: How long each kind of watching is measured.
    """
    measured = in_thread(partial(_measured, rounds, num_ended, num_live, seconds))
    return _figures(measured, num_ended=num_ended, num_live=num_live)


def _measured(rounds: int, num_ended: int, num_live: int, seconds: float) -> list[PageRound]:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        home = Path(folder)
        (home / "notebooks").mkdir()
        root = home / "smtc_lab" / "runs"
        make_ended_runs(root, num_ended)
        names = stack.enter_context(growing_runs(root, num_live, steps_per_s=_STEPS_PER_S))
        python = Path(sys.executable)
        server = stack.enter_context(running_server(python, home / "notebooks", home=home))
        browser = stack.enter_context(running_browser())
        live = RunFolder(root / names[0])
        return [_round(server, browser, live, seconds=seconds) for _ in range(rounds)]


def _round(server: Server, browser: Browser, live: RunFolder, *, seconds: float) -> PageRound:
    with _opened(server, browser, has_ours=False) as page:
        bare_start_s: float = page.evaluate(_RESTORED)
    with _opened(server, browser, has_ours=True) as page:
        start_s: float = page.evaluate(_RESTORED)
        scripts = [page.request.get(url).body() for url in page.evaluate(_SCRIPTS, start_s)]
    # Chromium lets no page that was changed on its way open a WebSocket to this machine
    with _opened(server, browser, has_ours=None) as page:
        page.wait_for_selector(".jp-Smtc-price", state="visible")
        list_s: float = page.evaluate(_LIST)
        scrolled: float = page.evaluate(_FRAMES, [seconds, 60])
        page.evaluate("() => { document.querySelector('.jp-Smtc-list').scrollTop = 0 }")
        page.evaluate(
            "name => window.jupyterapp.commands.execute('smtc-lab:open', { name })",
            live.job_name,
        )
        page.wait_for_selector(".jp-Smtc-main .smtc-chart canvas")
        drawn: list[list[float]] = page.evaluate(_DRAWN, seconds)
        followed: float = page.evaluate(_FRAMES, [seconds, 0])
    return PageRound(
        start_s=start_s,
        bare_start_s=bare_start_s,
        start_bytes=sum(map(len, scripts)),
        zipped_bytes=sum(len(gzip.compress(script, mtime=0)) for script in scripts),
        list_s=list_s,
        scroll_frames_per_s=scrolled,
        live_frames_per_s=followed,
        latency_s=tuple(_latencies_s(live, drawn)),
    )


@contextlib.contextmanager
def _opened(server: Server, browser: Browser, *, has_ours: bool | None) -> Iterator[Page]:
    """Open JupyterLab in a fresh browser context.

    Args:
        server: The server.
        browser: The browser.
        has_ours: Whether the page is changed to have the extension, or not to; None: it
            stays as it is.
    """

    def answer(route: Route) -> None:
        response = route.fetch()
        page = response.text()
        # both ways, so that they cost the same
        body = _CONFIG.sub(
            lambda found: _config(found[0], has_ours=bool(has_ours)), page, count=1
        )
        route.fulfill(response=response, body=body)

    context = browser.new_context()
    page = context.new_page()
    if has_ours is not None:
        page.route(re.compile(r"/lab\?"), answer)
    page.goto(f"{server.url}lab?reset&token={server.token}")
    page.wait_for_function(_RESTORED)
    yield page
    context.close()


def _config(text: str, *, has_ours: bool) -> str:
    """Return the page's configuration."""
    config = json.loads(text)
    config["federated_extensions"] = [
        extension
        for extension in config["federated_extensions"]
        if has_ours or extension["name"] != _OURS
    ]
    return json.dumps(config)


def _latencies_s(live: RunFolder, drawn: Sequence[Sequence[float]]) -> Iterator[float]:
    """Yield how long each step took to its frame; the first frame shows what was there."""
    (records,) = read_run(live).steps.values()
    for (before, _), (rows, drawn_s) in pairwise(drawn):
        for record in records[int(before) : int(rows)]:
            yield drawn_s - record.end_time_s


def _figures(
    rounds: Sequence[PageRound], *, num_ended: int, num_live: int
) -> list[BenchFigure]:
    latency = f"{num_live} live runs: step's end to its point in the page"
    return [
        _less(
            "extension's share of JupyterLab's start",
            "ms",
            50,
            [1000 * (one.start_s - one.bare_start_s) for one in rounds],
        ),
        _less(
            "JavaScript of the extension at the start",
            "kB",
            30,
            [one.start_bytes / 1000 for one in rounds],
        ),
        _less(
            "JavaScript of the extension at the start, gzipped",
            "kB",
            30,
            [one.zipped_bytes / 1000 for one in rounds],
        ),
        _less(f"{num_ended} runs shown", "ms", 300, [1000 * one.list_s for one in rounds]),
        _more(f"{num_ended} runs scrolled", 60, [one.scroll_frames_per_s for one in rounds]),
        _more(f"{num_live} live runs followed", 55, [one.live_frames_per_s for one in rounds]),
        _less(
            f"{latency}, p50",
            "ms",
            150,
            [1000 * quantile(one.latency_s, 0.5) for one in rounds],
        ),
        _less(
            f"{latency}, p95",
            "ms",
            300,
            [1000 * quantile(one.latency_s, 0.95) for one in rounds],
        ),
    ]


def _less(name: str, unit: str, goal: float, repeats: Sequence[float]) -> BenchFigure:
    return bench_figure(name, repeats, unit=unit, better="lower", goal=goal)


def _more(name: str, goal: float, repeats: Sequence[float]) -> BenchFigure:
    return bench_figure(name, repeats, unit="frames/s", better="higher", goal=goal)
