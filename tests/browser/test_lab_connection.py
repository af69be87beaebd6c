"""A run goes on, and is shown, whatever becomes of page, kernel, server and network."""

from __future__ import annotations

import contextlib
import csv
from typing import TYPE_CHECKING

import pytest

from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder
from tests.browser.lab_kit import CHART, Runs, lab_page, open_dashboard, show_runs
from tests.kit.browser.jupyter import running_server
from tests.kit.browser.proxied import running_proxy
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request

    from tests.kit.browser.jupyter import Server

LAUNCH = """
import smtc_lab as lab
cluster = lab.Cluster.parse("here@group=local:1")
job = lab.TrainingJob(entry_point="train.py", cluster=cluster, max_steps=1_000_000)
run = lab.launch(job, detach=True)
"""
STREAM = "/user/ann/smtc-lab/api/stream"
NUM_STEPS = """wanted => Number(
  document.querySelector('.jp-Smtc-main .smtc-run .smtc-chart')?.dataset.rows ?? 0
) >= wanted"""
STEPS = "() => document.querySelector('.jp-Smtc-main progress').value"
NO_PROBLEM = """() => [...document.querySelectorAll('.jp-Smtc-problem')].every(
  box => !box.checkVisibility() || !box.textContent.includes('not answer')
)"""
RESTART = """async () => {
  const widgets = [...window.jupyterapp.shell.widgets('main')];
  const { sessionContext } = widgets.find(widget => widget.sessionContext);
  await sessionContext.session.kernel.restart();
}"""


class Hub:
    """A Jupyter server as JupyterHub shows it: below a path, behind a proxy that is late.

    The server can be gone for a while, and the proxy can be cut.
    """

    def __init__(self, python: Path, home: Path) -> None:
        self._python = python
        self._home = home
        self.runs = home / "smtc_lab" / "runs"
        self._behind = contextlib.ExitStack()
        self._direct = self._start(None)
        self._front = contextlib.ExitStack()
        proxy = running_proxy(self._direct, latency_s=0.01, idle_s=60)
        self.proxy = self._front.enter_context(proxy)
        self.server = self.proxy.seen(self._direct)

    def stop_server(self) -> None:
        self._behind.close()

    def start_server_again(self) -> None:
        self._start(self._direct)

    def close(self) -> None:
        self._front.close()
        self._behind.close()

    def _start(self, before: Server | None) -> Server:
        context = running_server(
            self._python,
            self._home / "notebooks",
            home=self._home,
            base_url="/user/ann/",
            instead_of=before,
        )
        return self._behind.enter_context(context)


@pytest.fixture(scope="module")
def hub(lab_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "notebooks").mkdir()
    made = Hub(lab_python, folder)
    yield made
    Runs(made.server).stop_all()
    made.close()


@pytest.fixture(scope="module")
def server(hub: Hub) -> Server:
    return hub.server


@pytest.fixture(scope="module")
def live(server: Server) -> str:
    return Runs(server).start()


@pytest.fixture(autouse=True)
def _no_request_misses_the_path(hub: Hub) -> Iterator[None]:
    yield
    assert hub.proxy.strays == []


def test_a_dashboard_is_there_again_after_a_reload(
    server: Server, browser: Browser, live: str
) -> None:
    def is_saved(request: Request) -> bool:
        return "/api/workspaces/" in request.url and live in (request.post_data or "")

    with lab_page(server, browser) as page:
        with page.expect_request_finished(is_saved):
            open_dashboard(page, live)
        page.reload()
        page.wait_for_selector(CHART)

        assert page.locator(".jp-Smtc-main").count() == 1


def test_a_server_that_comes_back_goes_on_with_the_same_page(
    hub: Hub, browser: Browser, live: str
) -> None:
    with lab_page(hub.server, browser) as page:
        show_runs(page)
        open_dashboard(page, live)
        page.wait_for_selector(CHART)
        hub.stop_server()
        page.locator(".jp-Smtc-panel", has_text="does not answer").wait_for()
        page.locator(".jp-Smtc-main", has_text="Runs go on without it").wait_for()
        before = page.evaluate(STEPS)
        hub.start_server_again()
        goes_on(page, before)

        # the panel and the dashboard both
        page.wait_for_function(NO_PROBLEM)


def test_two_tabs_list_watch_and_stop_a_run_over_one_socket_each(
    hub: Hub, browser: Browser
) -> None:
    name = Runs(hub.server).start()
    wait_until(lambda: hub.proxy.still_open(STREAM) == [], what="the end of other pages")
    before = hub.proxy.opened(STREAM)

    with lab_page(hub.server, browser) as one, lab_page(hub.server, browser) as other:
        for page in (one, other):
            show_runs(page)
            page.locator(".jp-Smtc-row", has_text=name).wait_for()
            open_dashboard(page, name)
            page.wait_for_function(NUM_STEPS, arg=1)
        one.locator(".jp-Smtc-actions button", has_text="Stop").click()
        one.locator(".jp-Dialog button", has_text="Stop it").click()
        for page in (one, other):
            page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()
        sockets = hub.proxy.still_open(STREAM)

    assert len(sockets) == 2
    assert hub.proxy.opened(STREAM) == [*before, *sockets]


@pytest.mark.soak
def test_after_a_cut_of_30_s_no_step_is_missing_and_none_is_twice(
    hub: Hub, browser: Browser
) -> None:
    name = Runs(hub.server).start()

    with lab_page(hub.server, browser) as page:
        # JupyterLab's own, in front of all else
        dialog = page.locator(".jp-Dialog", has_text="Server Connection Error")
        page.add_locator_handler(dialog, lambda _: page.keyboard.press("Escape"))
        show_runs(page)
        open_dashboard(page, name)
        page.wait_for_function(NUM_STEPS, arg=1)
        hub.proxy.cut()
        page.locator(".jp-Smtc-main", has_text="Runs go on without it").wait_for()
        page.wait_for_timeout(30_000)
        before = page.evaluate(STEPS)
        hub.proxy.mend()
        goes_on(page, before)
        page.wait_for_function(NO_PROBLEM)
        page.locator(".jp-Smtc-actions button", has_text="Stop").click()
        page.locator(".jp-Dialog button", has_text="Stop it").click()
        page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()
        run = read_run(RunFolder(hub.runs / name))
        steps = [record.step for records in run.steps.values() for record in records]
        page.wait_for_function(NUM_STEPS, arg=len(steps))
        shown = saved_steps(page)

    assert shown == steps
    assert len(shown) > before


@pytest.mark.soak
def test_a_page_at_rest_is_not_cut_by_a_proxy_that_cuts_after_60_s(
    hub: Hub, browser: Browser
) -> None:
    Runs(hub.server).stop_all()
    wait_until(lambda: hub.proxy.still_open(STREAM) == [], what="the end of other pages")
    before = hub.proxy.opened(STREAM)

    with lab_page(hub.server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row").first.wait_for()
        page.wait_for_timeout(75_000)
        (socket,) = hub.proxy.still_open(STREAM)

    assert hub.proxy.opened(STREAM) == [*before, socket]


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


def saved_steps(page: Page) -> list[int]:
    """Return the steps that the file of the dashboard's first chart has."""
    chart = page.locator(".jp-Smtc-main .smtc-chart").first
    chart.get_by_role("button", name="Save as PNG, SVG or CSV").click()
    with page.expect_download() as saving:
        chart.get_by_role("button", name="Save as CSV").click()
    with saving.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["rows"] for row in rows} == {"1"}  # none is in a bin with others
    return [int(row["step"]) for row in rows]
