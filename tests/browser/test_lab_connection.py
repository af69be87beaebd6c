"""A run goes on, and is shown, whatever becomes of page, kernel, server and network."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from smtc_lab.testing.browser.jupyter import running_server
from tests.browser.lab_kit import CHART, Runs, lab_page, open_dashboard, show_runs
from tests.browser.wheel_env import wheel_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request, WebSocket

    from smtc_lab.testing.browser.jupyter import Server

LAUNCH = """
import smtc_lab as lab
cluster = lab.Cluster.parse("here@group=local:1")
job = lab.TrainingJob(entry_point="train.py", cluster=cluster, max_steps=1_000_000)
run = lab.launch(job, detach=True)
"""
STEPS = "() => document.querySelector('.jp-Smtc-main progress').value"
NO_PROBLEM = """() => [...document.querySelectorAll('.jp-Smtc-problem')].every(
  box => !box.checkVisibility() || !box.textContent.includes('not answer')
)"""
RESTART = """async () => {
  const widgets = [...window.jupyterapp.shell.widgets('main')];
  const { sessionContext } = widgets.find(widget => widget.sessionContext);
  await sessionContext.session.kernel.restart();
}"""


class Restartable:
    """A Jupyter server below a path, as behind JupyterHub, that can be gone for a while."""

    def __init__(self, python: Path, home: Path) -> None:
        self._python = python
        self._home = home
        self._running = contextlib.ExitStack()
        self.server = self._start(None)

    def stop(self) -> None:
        self._running.close()

    def start_again(self) -> None:
        self._start(self.server)

    def _start(self, before: Server | None) -> Server:
        context = running_server(
            self._python,
            self._home / "notebooks",
            home=self._home,
            base_url="/user/me/",
            instead_of=before,
        )
        return self._running.enter_context(context)


@pytest.fixture(scope="module")
def restartable(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    folder = tmp_path_factory.mktemp("jupyter")
    python = wheel_environment(wheel, folder / "environment")
    (folder / "notebooks").mkdir()
    made = Restartable(python, folder)
    yield made
    Runs(made.server).stop_all()
    made.stop()


@pytest.fixture(scope="module")
def server(restartable: Restartable) -> Server:
    return restartable.server


@pytest.fixture(scope="module")
def live(server: Server) -> str:
    return Runs(server).start()


def test_a_dashboard_is_there_again_after_a_reload(
    server: Server, browser: Browser, live: str
) -> None:
    def is_saved(request: Request) -> bool:
        return "/api/workspaces/" in request.url and live in (request.post_data or "")

    with lab_page(server, browser) as page:
        with page.expect_request(is_saved):
            open_dashboard(page, live)
        page.reload()
        page.wait_for_selector(CHART)

        assert page.locator(".jp-Smtc-main").count() == 1


def test_a_server_that_comes_back_goes_on_with_the_same_page(
    restartable: Restartable, browser: Browser, live: str
) -> None:
    with lab_page(restartable.server, browser) as page:
        show_runs(page)
        open_dashboard(page, live)
        page.wait_for_selector(CHART)
        restartable.stop()
        page.locator(".jp-Smtc-panel", has_text="does not answer").wait_for()
        page.locator(".jp-Smtc-main", has_text="Runs go on without it").wait_for()
        before = page.evaluate(STEPS)
        restartable.start_again()
        goes_on(page, before)

        # the panel and the dashboard both
        page.wait_for_function(NO_PROBLEM)


def test_two_tabs_tell_the_same_over_one_socket_each(server: Server, browser: Browser) -> None:
    name = Runs(server).start()

    with lab_page(server, browser) as one, lab_page(server, browser) as other:
        sockets = [our_sockets(one), our_sockets(other)]
        for page in (one, other):
            show_runs(page)
            open_dashboard(page, name)
        one.locator(".jp-Smtc-actions button", has_text="Stop").click()
        one.locator(".jp-Dialog button", has_text="Stop it").click()
        for page in (one, other):
            page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()

    # that of the status bar may have been there before
    assert [len(opened) for opened in sockets] in ([0, 0], [0, 1], [1, 0], [1, 1])


def test_a_run_goes_on_when_its_kernel_is_restarted_or_busy(
    server: Server, browser: Browser
) -> None:
    known = {row["name"] for row in Runs(server).rows()}
    notebook = server.write("kernel.ipynb", [LAUNCH, "import time; time.sleep(600)"])

    with server.lab(browser, notebook) as page:
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
        show_runs(page)
        page.wait_for_function(
            "known => document.querySelectorAll('.jp-Smtc-row:not([hidden])').length > known",
            arg=len(known),
        )
        (name,) = {row["name"] for row in Runs(server).rows()} - known
        open_dashboard(page, name)
        goes_on(page, page.evaluate(STEPS))  # while the kernel is busy
        page.evaluate(RESTART)
        goes_on(page, page.evaluate(STEPS))
        page.locator(".jp-Smtc-main button", has_text="Stop").first.click()
        page.locator(".jp-Smtc-main button", has_text="Stop it").click()
        page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()


def goes_on(page: Page, before: float) -> None:
    """Wait until more steps are shown."""
    page.wait_for_function(f"before => ({STEPS})() > before", arg=before, timeout=60_000)


def our_sockets(page: Page) -> list[str]:
    """Return what will hold each WebSocket of ours that the page opens from now on."""
    opened: list[str] = []

    def note(socket: WebSocket) -> None:
        if "/smtc-lab/" in socket.url:
            opened.append(socket.url)

    page.on("websocket", note)
    return opened
