"""A run of a notebook goes on without its kernel, and all views of it tell the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from tests.browser.lab_kit import Runs
from tests.browser.lives_kit import (
    CELL,
    COMPARE,
    LAUNCH,
    PANEL,
    WIDE,
    await_state,
    end_kernel,
    leave_dialogs,
    restart_kernel,
    run_cells,
    save,
    show_all,
    state_of,
    stop_by,
)
from tests.kit.runs import processes_after

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

    from tests.browser.lives_kit import Home
    from tests.kit.browser.jupyter import Server

ELAPSED = """view => {
  const facts = [...document.querySelectorAll(`${view} dt`)];
  return facts.find(fact => fact.textContent === 'elapsed')?.nextSibling.textContent;
}"""
DONE = f"() => document.querySelector('{CELL} progress').value"
DESIGNED = ".jp-SmtcDesigner .smtc-comparison"


def launched(server: Server, page: Page) -> str:
    """Run the cells, open the dashboard of what they launch, and return its name."""
    known = {row["name"] for row in Runs(server).rows()}
    run_cells(page)
    (row,) = (row for row in Runs(server).rows() if row["name"] not in known)
    name: str = row["name"]
    show_all(page, name)
    await_state(page, PANEL, "Running")
    return name


def test_a_run_whose_kernel_restarts_is_followed_and_stopped_where_it_was_shown(
    server: Server, browser: Browser
) -> None:
    Runs(server).script()
    notebook = server.write("restarted.ipynb", [LAUNCH])

    with server.lab(browser, notebook, window=WIDE) as page:
        name = launched(server, page)
        restart_kernel(page)
        # the kernel tells no steps any more: the server does
        before = page.evaluate(DONE)
        page.wait_for_function(f"before => ({DONE})() > before", arg=before, timeout=60_000)
        assert state_of(page, CELL) == "Running"
        assert Runs(server).row(name)["state"] == "InProgress"
        stop_by(page, CELL)

        for view in (CELL, PANEL):
            await_state(page, view, "Stopped")
        elapsed = page.evaluate(ELAPSED, CELL)
        assert elapsed == page.evaluate(ELAPSED, PANEL)
        page.wait_for_timeout(2_500)
        assert page.evaluate(ELAPSED, CELL) == elapsed
    assert Runs(server).row(name)["state"] == "Stopped"
    assert processes_after(server.runs_root / name) == {}
    assert "stopped by its user" in Run.open(str(server.runs_root / name)).state.reason


def test_a_cell_finds_its_run_again_after_a_reload_without_its_kernel(
    server: Server, browser: Browser
) -> None:
    Runs(server).script()
    notebook = server.write("reloaded.ipynb", [LAUNCH])

    with server.lab(browser, notebook) as page:
        run_cells(page)
        save(page)
        end_kernel(page)
        page.reload()
        await_state(page, CELL, "Running")
        page.wait_for_selector(f"{CELL} .smtc-chart canvas")
        stop_by(page, CELL)
        await_state(page, CELL, "Stopped")


def test_a_comparison_is_found_again_by_its_cell_when_the_server_comes_back(
    home: Home, browser: Browser
) -> None:
    notebook = home.server.write("returned.ipynb", [COMPARE])

    with home.server.lab(browser, notebook) as page:
        leave_dialogs(page)
        run_cells(page)
        save(page)
        await_state(page, CELL, "Running")
        home.stop_server()
        await_state(page, CELL, "Unknown")
        assert page.locator(CELL).get_by_role("button", name="Stop").count() == 0
        home.start_server_again()
        await_state(page, CELL, "Running")
        page.reload()
        await_state(page, CELL, "Running")
        stop_by(page, CELL)
        await_state(page, CELL, "Stopped")


def test_the_designer_finds_its_comparison_again(home: Home, browser: Browser) -> None:
    def is_saved(request: Request) -> bool:
        return "/api/workspaces/" in request.url and '"running":"train-' in str(
            request.post_data
        ).replace("\\", "").replace('": "', '":"')

    with home.server.page(browser, "lab/workspaces/designed") as page:
        leave_dialogs(page)
        page.wait_for_selector(".jp-Launcher")
        jobs = [
            TrainingJob(
                entry_point="train.py",
                cluster=Cluster.parse(f"{name}@group=local:1"),
                max_steps=1_000_000,
            ).model_dump(mode="json")
            for name in ("one", "two")
        ]
        page.evaluate(
            "args => { window.jupyterapp.commands.execute('smtc-lab:open-designer', args) }",
            {"value": jobs},
        )
        run = page.locator(".jp-SmtcDesigner").get_by_role("button", name="Run", exact=True)
        with page.expect_request_finished(is_saved):
            run.click()
        await_state(page, DESIGNED, "Running")
        page.reload()
        await_state(page, DESIGNED, "Running")
        home.stop_server()
        await_state(page, DESIGNED, "Unknown")
        home.start_server_again()
        await_state(page, DESIGNED, "Running")
        stop_by(page, DESIGNED)
        await_state(page, DESIGNED, "Stopped")
        wait_for_nothing(home.server)


def wait_for_nothing(server: Server) -> None:
    """Check that nothing of any run is left."""
    for row in Runs(server).rows():
        if row["kind"] == "run" and row["state"] == "Stopped":
            assert processes_after(server.runs_root / row["name"]) == {}
