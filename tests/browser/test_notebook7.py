"""The same story on Notebook 7's page: the workbench, its scripts, the list of runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab_kit import Runs, show_runs
from tests.browser.lives_kit import await_state
from tests.kit.browser.jupyter import wait_for_kernel
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

WORKBENCH = """
import smtc_lab as lab
jobs = [
    lab.TrainingJob(
        entry_point="quick.py",
        cluster=lab.Cluster.parse(f"{name}@dnn_group={type}:1"),
        emulation=lab.Emulation(device_step_time_s=0.01),
        max_steps=300,
    )
    for name, type in {"older": "ml.p3.2xlarge", "newer": "ml.g5.2xlarge"}.items()
]
workbench = lab.Workbench(jobs, rounds=1)
workbench
"""
OURS = "**/lab/extensions/@smtc-lab/**"


@pytest.fixture(scope="module")
def of_notebook(server: Server, browser: Browser) -> set[str]:
    """Return what Notebook 7's page says of itself, with nothing of ours in it."""
    notebook, said = server.write("empty.ipynb", [""]), list[str]()
    with server.page(browser, "api") as page:
        page.route(OURS, lambda route: route.abort())
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{server.url}notebooks/{notebook.name}?token={server.token}")
        wait_for_kernel(page)
    return set(said)


@contextlib.contextmanager
def classic(
    server: Server, browser: Browser, notebook: Path, of_notebook: set[str]
) -> Iterator[Page]:
    """Open a notebook in Notebook 7, and check at the end that nothing went wrong unseen."""
    said: list[str] = []
    with server.page(browser, "api") as page:
        page.on(
            "console", lambda told: said.append(told.text) if told.type == "error" else None
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{server.url}notebooks/{notebook.name}?token={server.token}")
        wait_for_kernel(page)
        yield page
    assert set(said) - of_notebook == set()


def run_cell(page: Page) -> None:
    page.locator(".jp-Cell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")


def test_the_workbench_is_run_and_watched_to_its_end_in_notebook_7(
    server: Server, browser: Browser, of_notebook: set[str]
) -> None:
    (server.root / "quick.py").write_text(QUICK_SCRIPT, encoding="utf-8")
    notebook = server.write("workbench.ipynb", [WORKBENCH])

    with classic(server, browser, notebook, of_notebook) as page:
        run_cell(page)
        page.get_by_role("button", name="Run", exact=True).click(timeout=60_000)
        comparison = page.locator(".smtc-comparison")
        await_state(page, ".smtc-comparison", "Running")
        comparison.locator(".smtc-chart canvas").first.wait_for(timeout=60_000)
        await_state(page, ".smtc-comparison", "Completed")
        verdict = comparison.locator(".smtc-verdict-sentence").inner_text()
        assert "newer against older: step times in the ratio of" in verdict
        pictures = comparison.locator(".smtc-pictures figure")
        named = [figure.get_by_text("V100", exact=True).count() for figure in pictures.all()]
        assert named == [1, 0]
        chart = comparison.get_by_role("figure", name="Step time").first
        chart.get_by_role("button", name="Show as a table").click()
        chart.get_by_role("row", name="newer").wait_for()


def test_a_script_is_chosen_among_those_at_hand_in_notebook_7(
    server: Server, browser: Browser, of_notebook: set[str]
) -> None:
    notebook = server.write("choose.ipynb", ["import smtc_lab as lab\nlab.Workbench()"])

    with classic(server, browser, notebook, of_notebook) as page:
        run_cell(page)
        page.get_by_role("button", name="Choose …").click(timeout=60_000)
        offered = page.get_by_role("group", name="Scripts at hand")
        offered.get_by_role("button", name="plain_loop.py").click()
        offered.wait_for(state="hidden")
        # what Python answers
        code = page.locator(".smtc-workbench .smtc-code", has_text="plain_loop.py")
        code.first.wait_for(state="attached")

        path = page.get_by_label("Training script").input_value()

    assert path.endswith("plain_loop.py")


def test_the_list_of_runs_inserts_and_stops_one_in_notebook_7(
    server: Server, browser: Browser, of_notebook: set[str]
) -> None:
    notebook = server.write("listed.ipynb", [""])
    name = Runs(server).start()

    with classic(server, browser, notebook, of_notebook) as page:
        show_runs(page)
        panel = page.locator(".jp-Smtc-runs")
        panel.locator(".jp-Smtc-row", has_text=name).click()
        panel.get_by_role("button", name="Insert").click()
        page.locator(".jp-Cell", has_text=f"lab.Run.open('{name}')").wait_for()
        panel.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Stop it").click()
        panel.get_by_text("Stopped ·").wait_for(timeout=60_000)
