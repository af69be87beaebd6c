"""What tests of the JupyterLab extension share: runs that cost little, and pages for them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.machine.processes import processes_with_variable
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server, Window

# needs no torch, and hardly any CPU
_SCRIPT = """
import sys
import time
from smtc_lab.runtime.instance_runtime import instance_runtime

timer = instance_runtime().timer
print("begun", *sys.argv[1:], flush=True)
while not timer.is_done:
    timer.ask()
    time.sleep(0.01)
    timer.got(8)
    timer.end()
"""
_LIVE = ("Pending", "InProgress", "Stopping")
CHART = ".smtc-run .smtc-chart canvas"
"""What a dashboard has once there are steps."""


@dataclass(frozen=True)
class Runs:
    """The runs of a Jupyter server, by its REST interface."""

    server: Server

    def start(self, **job: Any) -> str:
        """Start a run that goes on until it is stopped, and return its name."""
        wanted = {
            "entry_point": self.script(),
            "cluster": Cluster.parse("here@group=local:1"),
            "max_steps": 1_000_000,
            **job,
        }
        made = TrainingJob(**wanted)
        answer = self._ask("runs", {"kind": "run", "job": json.loads(made.to_json())})
        name: str = answer["name"]
        return name

    def script(self) -> str:
        """Write the script of cheap steps, and return its path as the server knows it."""
        (self.server.root / "train.py").write_text(_SCRIPT, encoding="utf-8")
        return "train.py"

    def compare(self, jobs: Sequence[TrainingJob], *, rounds: int) -> str:
        """Start a comparison, and return its name."""
        wanted = [json.loads(job.to_json()) for job in jobs]
        answer = self._ask("runs", {"kind": "comparison", "jobs": wanted, "rounds": rounds})
        name: str = answer["name"]
        return name

    def stop_all(self) -> None:
        """Stop what runs, and wait for its end."""
        while live := [row for row in self.rows() if row["state"] in _LIVE]:
            for row in live:
                with contextlib.suppress(urllib.error.HTTPError):  # it has just ended
                    self._ask(f"{row['kind']}s/{row['name']}/stop", {})

    def await_end(self, name: str) -> None:
        """Wait for the end of a run that ends by itself."""
        while self.row(name)["state"] in _LIVE:
            pass

    def rows(self) -> list[dict[str, Any]]:
        """Return the list as the server tells it."""
        rows: list[dict[str, Any]] = self._ask("runs")["runs"]
        return rows

    def row(self, name: str) -> dict[str, Any]:
        """Return the row of a run or a comparison."""
        (row,) = (row for row in self.rows() if row["name"] == name)
        return row

    def bundle(self, name: str) -> dict[str, Any]:
        """Return what a notebook keeps of a comparison that has ended, by mime type."""
        bundle: dict[str, Any] = self._ask(f"comparisons/{name}/bundle")
        return bundle

    def _ask(self, path: str, body: object = None) -> Any:
        return _ask(self.server, f"smtc-lab/api/{path}", body)


@contextlib.contextmanager
def lent(server: Server, past: Path) -> Iterator[Server]:
    """Lend a server to a module, and let it forget the module's kernels, runs and files.

    Args:
        server: Serves one module after the other.
        past: An empty folder, which gets all that the module leaves.
    """
    home = server.runs_root.parent

    def is_at_rest() -> bool:
        open_now = [f"api/sessions/{session['id']}" for session in _ask(server, "api/sessions")]
        with ThreadPoolExecutor() as threads:  # a kernel takes most of a second to end
            list(threads.map(partial(_ask, server, method="DELETE"), open_now))
        Runs(server).stop_all()  # what a notebook launches goes on without it
        return processes_with_variable(HOME_VARIABLE, str(home)).keys() == {server.pid}

    yield replace(server, strangers=[])
    wait_until(is_at_rest, what="the end of all that a module began")
    settings = home.parent / "config" / "lab"
    for path in filter(os.path.exists, (home, settings, *server.root.iterdir())):
        path.rename(past / path.name)
    assert Runs(server).rows() == []


def _ask(server: Server, path: str, body: object = None, *, method: str | None = None) -> Any:
    request = urllib.request.Request(  # noqa: S310  our own server
        f"{server.url}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"token {server.token}"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  our own server
        return json.loads(answer.read() or "null")


@contextlib.contextmanager
def lab_page(
    server: Server, browser: Browser, *, window: Window | None = None
) -> Iterator[Page]:
    """Open JupyterLab with nothing in it."""
    where = f"lab/workspaces/{secrets.token_hex(4)}"
    with server.page(browser, where, window=window) as page:
        page.wait_for_selector(".jp-Launcher")
        yield page


def show_runs(page: Page) -> None:
    """Show the list of runs."""
    page.keyboard.press("Control+Alt+r")
    page.wait_for_selector(".jp-Smtc-runs")


def open_dashboard(page: Page, name: str, kind: str = "run") -> None:
    """Open the dashboard of a run or a comparison."""
    page.evaluate(
        "args => window.jupyterapp.commands.execute('smtc-lab:open', args)",
        {"name": name, "kind": kind},
    )
    page.wait_for_selector(f".jp-Smtc-main .smtc-{kind}")


def language_pack(home: Path) -> None:
    """Give a server a language pack: JupyterLab asks packages for texts only beside one."""
    pack, info = home / "packs" / "pack_stub", home / "packs" / "pack_stub-1.dist-info"
    pack.mkdir(parents=True)
    info.mkdir()
    (pack / "__init__.py").touch()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pack-stub\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[jupyterlab.languagepack]\nde_DE = pack_stub\n")


def speak(server: Server, locale: str) -> None:
    """Have the pages that are opened from now on in a language."""
    setting = "lab/api/settings/@jupyterlab/translation-extension:plugin"
    _ask(server, setting, {"raw": json.dumps({"locale": locale})}, method="PUT")


def set_theme(page: Page, theme: str) -> None:
    """Show JupyterLab in a theme."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
    )
    page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
