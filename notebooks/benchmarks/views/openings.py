"""From the start of a cell to what it shows.

The first of a server has a kernel that has imported nothing; all others have the same kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.launcher import Handle
from smtc_lab.store.state import replace_file
from tests.kit.browser.jupyter import command
from tests.kit.records import run_records
from tests.kit.run_folders import write_many_steps, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

_STEPS = 1_000_000
_LONGEST_MS = 120_000

_WATCH = """condition => {
  const begin = performance.now();
  window.__opened = null;
  const isShown = new Function(`return ${condition}`);
  const look = () => {
    if (isShown()) { window.__opened = (performance.now() - begin) / 1000; }
    else { requestAnimationFrame(look); }
  };
  requestAnimationFrame(look);
}"""


def workbench_s(server: Server, browser: Browser) -> float:
    """Return how long a kernel's first ``Workbench()`` takes to be on the page, in seconds.

    Raises:
        TimeoutError: It was never shown.
    """
    cell = "import smtc_lab as lab\nlab.Workbench()"
    return _opening_s(
        server, browser, cell, "document.querySelector('.smtc-workbench') !== null"
    )


def long_run_s(server: Server, browser: Browser, runs: Path) -> float:
    """Return how long the charts of a run of a million steps take to be drawn, in seconds.

    Args:
        server: Where the notebook runs.
        browser: Where it is shown.
        runs: Folder where the run is made once, and found again.

    Raises:
        TimeoutError: They were never drawn.
    """
    path = runs / "train-r1"
    if not path.exists():
        folder = write_run_folder(runs, run_records([]))
        write_many_steps(folder.records / "algo-1-rank0.sqlite", _STEPS)
        handle = Handle(launcher="local", job_name=path.name, run_folder=str(path))
        replace_file(folder.handle_file, handle.to_json())
    cell = f"import smtc_lab as lab\nlab.RunMonitor({str(path)!r})"
    drawn = "Number(document.querySelector('.smtc-run .smtc-chart')?.dataset.rows ?? 0)"
    return _opening_s(server, browser, cell, f"{drawn} >= {_STEPS}")


def _opening_s(server: Server, browser: Browser, cell: str, condition: str) -> float:
    notebook = server.write("opening.ipynb", [cell])
    with server.lab(browser, notebook) as page:
        page.evaluate(_WATCH, condition)
        command(page, "notebook:run-all-cells")
        page.wait_for_function("() => window.__opened !== null", timeout=_LONGEST_MS)
        opened_s: float = page.evaluate("() => window.__opened")
    return opened_s
