"""What tests of the JupyterLab extension share: runs that cost little, and pages for them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

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
        request = urllib.request.Request(  # noqa: S310  our own server
            f"{self.server.url}smtc-lab/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.server.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)


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


@contextlib.contextmanager
def language_pack(home: Path) -> Iterator[None]:
    """Let a server see a language pack: JupyterLab asks packages for texts only beside one."""
    pack, info = home / "packs" / "pack_stub", home / "packs" / "pack_stub-1.dist-info"
    pack.mkdir(parents=True)
    info.mkdir()
    (pack / "__init__.py").touch()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pack-stub\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[jupyterlab.languagepack]\nde_DE = pack_stub\n")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(pack.parent)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def speak(server: Server, locale: str) -> None:
    """Have the pages that are opened from now on in a language."""
    setting = "@jupyterlab/translation-extension:plugin"
    request = urllib.request.Request(  # noqa: S310  our own server
        f"{server.url}lab/api/settings/{setting}",
        data=json.dumps({"raw": json.dumps({"locale": locale})}).encode(),
        headers={"Authorization": f"token {server.token}"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=60):  # noqa: S310  our own server
        pass


def set_theme(page: Page, theme: str) -> None:
    """Show JupyterLab in a theme."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
    )
    page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
