"""A Jupyter server on loopback, and the pages that are opened on it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

_START_S = 60
_HERE = {"127.0.0.1", "localhost", ""}


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window of a browser."""

    width: int = 1280
    """In CSS pixels at zoom 1."""

    height: int = 900
    """In CSS pixels at zoom 1."""

    zoom: float = 1.0
    """How much larger the browser shows everything."""

    has_reduced_motion: bool = False
    """Whether the system asks for no motion."""


@dataclass
class Server:
    """A running Jupyter server."""

    url: str
    """Address of its root."""

    token: str
    """What a browser shows."""

    root: Path
    """Folder of its notebooks."""

    runs_root: Path
    """Folder of its runs."""

    pid: int = 0
    """Its process."""

    strangers: list[str] = field(default_factory=list)
    """Requests of pages that would have left this machine."""

    def write(self, name: str, sources: Sequence[str]) -> Path:
        """Write a notebook of code cells, and return it."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{place}",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for place, source in enumerate(sources)
        ]
        kernel = {"name": "python3", "display_name": "Python 3"}
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        path = self.root / name
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    @contextlib.contextmanager
    def page(
        self, browser: Browser, where: str, *, window: Window | None = None
    ) -> Iterator[Page]:
        """Open a place of the server, a path behind its root, in a window of its own."""
        window = Window() if window is None else window
        context = browser.new_context(
            viewport={
                "width": round(window.width / window.zoom),
                "height": round(window.height / window.zoom),
            },
            device_scale_factor=window.zoom,
            reduced_motion="reduce" if window.has_reduced_motion else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(1000 * PATIENCE_S)  # the browser's own is 30 s
        page = context.new_page()
        page.on("request", lambda request: self._note(request.url))
        page.goto(f"{self.url}{where}{'&' if '?' in where else '?'}token={self.token}")
        try:
            yield page
        finally:
            context.close()

    @contextlib.contextmanager
    def lab(
        self, browser: Browser, notebook: Path, *, window: Window | None = None
    ) -> Iterator[Page]:
        """Open a notebook in JupyterLab, ready to run."""
        where = f"lab/workspaces/{secrets.token_hex(4)}/tree/{notebook.name}"
        with self.page(browser, where, window=window) as page:
            page.wait_for_selector(".jp-Notebook .jp-Cell")
            wait_for_kernel(page)
            yield page

    def _note(self, url: str) -> None:
        if urlparse(url).hostname not in _HERE and url.startswith("http"):
            self.strangers.append(url)


def wait_for_kernel(page: Page) -> None:
    """Wait until the notebook's kernel is idle."""
    page.wait_for_function(
        """() => {
          const widget = window.jupyterapp?.shell.currentWidget;
          return widget?.sessionContext?.session?.kernel?.status === 'idle';
        }""",
        timeout=60_000,
    )


def command(page: Page, name: str) -> None:
    """Execute a command of JupyterLab; what it returns may never come, so it is not awaited."""
    page.evaluate("name => { window.jupyterapp.commands.execute(name); }", name)


@contextlib.contextmanager
def running_server(
    python: Path,
    root: Path,
    *,
    home: Path,
    base_url: str = "/",
    instead_of: Server | None = None,
) -> Iterator[Server]:
    """Run a Jupyter server on loopback until the block ends.

    Args:
        python: Of the environment that has JupyterLab and ours.
        root: Folder of notebooks.
        home: Folder for all else that the server writes. It sees packages in its ``packs``.
        base_url: Path below which everything lies, as behind JupyterHub.
        instead_of: A server that has ended, whose address and token this one gets.
    """
    token = secrets.token_hex(16) if instead_of is None else instead_of.token
    port = 0 if instead_of is None else urlparse(instead_of.url).port
    log = (home / "server.log").open("w", encoding="utf-8")
    server = subprocess.Popen(  # noqa: S603  a python and fixed words
        [
            python,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            f"--ServerApp.base_url={base_url}",
            f"--ServerApp.root_dir={root}",
            f"--IdentityProvider.token={token}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
        ],
        cwd=root,  # a module beside this process would come before the installed one
        env=_environment(home),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        yield Server(
            url=_address(server, home / "runtime"),
            token=token,
            root=root,
            runs_root=home / "smtc_lab" / "runs",
            pid=server.pid,
        )
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        log.close()


def _environment(home: Path) -> dict[str, str]:
    packs = home / "packs"
    return {
        **os.environ,
        **({"PYTHONPATH": str(packs)} if packs.exists() else {}),
        "HOME": str(home),
        "SMTC_LAB_HOME": str(home / "smtc_lab"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def _address(server: subprocess.Popen[bytes], runtime: Path) -> str:
    """Return the server's address once it answers."""
    ends_s = time.monotonic() + _START_S
    while time.monotonic() < ends_s and server.poll() is None:
        for info in runtime.glob(f"jpserver-{server.pid}.json"):
            with contextlib.suppress(OSError, ValueError):
                found = json.loads(info.read_text(encoding="utf-8"))
                url = re.sub(r"//[^:/]+", "//127.0.0.1", found["url"])
                with urllib.request.urlopen(f"{url}api", timeout=5):  # noqa: S310  our own server
                    return url
        time.sleep(0.1)
    raise RuntimeError("The Jupyter server did not start; see server.log.")
