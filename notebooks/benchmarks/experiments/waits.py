"""What a user waits for: in a shell, and in JupyterLab in a browser, from act to picture."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.fresh import python_path
from smtc_lab.errors import RunFailedError
from tests.kit.browser.chromium import running_browser
from tests.kit.browser.jupyter import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

_WAIT = """async ([act, isThere]) => {
  const [does, holds] = [new Function(act), new Function(`return ${isThere}`)];
  const began = performance.now();
  does();
  while (!holds()) { await new Promise(requestAnimationFrame); }
  return (performance.now() - began) / 1000;
}"""
_OPEN = "window.jupyterapp.commands.execute('smtc-lab:table')"
_FIRST = "document.querySelector('.smtc-runs-table tbody .smtc-open')?.textContent"
_SORT = "document.querySelector('[data-at=\"sort:%s\"]').click()"
_TYPE = """const where = document.querySelector('.smtc-where');
where.value = '%s';
where.dispatchEvent(new Event('input'));"""
_FOUND = "document.querySelector('.smtc-runs').textContent.includes(' of %s')"
_COMPARE = "window.jupyterapp.commands.execute('smtc-lab:compare-runs', { names: %s })"
_PICTURE = "Number(document.querySelector('.smtc-compared .smtc-chart')?.dataset.rows ?? 0) > 0"


def shell_s(root: Path, *options: str, lines: int) -> float:
    """Return how long ``smtc-lab runs`` takes from its start to its end, in seconds.

    Args:
        root: Folder of runs.
        options: Its options.
        lines: What it has to print.

    Raises:
        RunFailedError: It printed something else.
    """
    program = str(Path(sys.executable).with_name("smtc-lab"))
    command = [program, "runs", "--runs-dir", str(root), *options]
    environment = {**os.environ, "PYTHONPATH": python_path()}
    began_s = time.perf_counter()
    told = subprocess.run(  # noqa: S603  our own command
        command, capture_output=True, text=True, check=False, env=environment
    )
    took_s = time.perf_counter() - began_s
    if len(told.stdout.splitlines()) != lines:
        raise RunFailedError(
            f"smtc-lab runs {' '.join(options)} printed {told.stdout[-500:]!r} "
            f"{told.stderr[-500:]!r}, which are not {lines} lines. Mend it, then measure again."
        )
    return took_s


@dataclass(frozen=True, kw_only=True)
class Lab:
    """JupyterLab over a folder of runs. What is measured has a new page each time."""

    server: Server
    """Its server."""

    browser: Browser
    """Where it is shown."""

    rest_s: float
    """How long a page is left alone before what is measured, in seconds."""

    def opened_s(self) -> float:
        """Return how long the table of runs takes to show rows, in seconds."""
        with self._page() as page:
            page.wait_for_timeout(1000 * self.rest_s)
            return _waited_s(page, _OPEN, f"{_FIRST} !== undefined")

    def sorted_s(self, column: str, *, first: str) -> float:
        """Return the time from a click on a column's head to a table with this first run."""
        with self._table() as page:
            return _waited_s(page, _SORT % column, f"{_FIRST} === '{first}'")

    def filtered_s(self, condition: str, *, found: int) -> float:
        """Return the time from a condition's last key to so many rows, in seconds.

        A quarter of a second of it is the pause in which the next key is waited for.
        """
        with self._table() as page:
            return _waited_s(page, _TYPE % condition, _FOUND % found)

    def compared_s(self, names: Sequence[str]) -> float:
        """Return the time from asking for a comparison of runs to its first picture."""
        with self._page() as page:
            page.wait_for_timeout(1000 * self.rest_s)
            return _waited_s(page, _COMPARE % list(names), _PICTURE)

    @contextlib.contextmanager
    def _page(self) -> Iterator[Page]:
        with self.server.page(self.browser, "lab?reset") as page:
            page.wait_for_selector(".jp-Launcher")
            yield page

    @contextlib.contextmanager
    def _table(self) -> Iterator[Page]:
        """Open the table, and look at it for a while."""
        with self._page() as page:
            _waited_s(page, _OPEN, f"{_FIRST} !== undefined")
            page.wait_for_timeout(1000 * self.rest_s)
            yield page


@contextlib.contextmanager
def labs(*homes: Path, rest_s: float) -> Iterator[list[Lab]]:
    """Run JupyterLab over ``smtc_lab/runs`` of each of some folders, in one browser."""
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(running_browser())
        found = []
        for home in homes:
            root = home / "notebooks"
            root.mkdir(parents=True)
            server = running_server(Path(sys.executable), root, home=home)
            here = stack.enter_context(server)
            found.append(Lab(server=here, browser=browser, rest_s=rest_s))
        yield found


def _waited_s(page: Page, act: str, is_there: str) -> float:
    waited_s: float = page.evaluate(_WAIT, [act, is_there])
    return waited_s
