"""A run in a notebook: watched live, across a reload and a restart, and after its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.kit.browser.jupyter import command, wait_for_kernel

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

LAUNCH = """
import smtc_lab as lab
from smtc_lab.examples import example
job = lab.TrainingJob(
    entry_point=example("plain_loop"),
    cluster=lab.Cluster.parse("here@group=local:1"),
    hyperparameters={"epochs": 10_000},
    max_steps=%d,
)
run = lab.launch(job)
run
"""
HAS_RESULT = """() => JSON.stringify(
  window.jupyterapp.shell.currentWidget.context.model.toJSON()
).includes('application/vnd.smtc-lab.run+json')"""


def started(page: Page) -> None:
    command(page, "notebook:run-all-cells")
    page.wait_for_selector(".smtc-run", timeout=60_000)


def test_a_run_is_stopped_by_mouse_and_stays_readable(server: Server, browser: Browser) -> None:
    notebook = server.write("stopped.ipynb", [LAUNCH % 100_000])

    with server.lab(browser, notebook) as page:
        started(page)
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Stop it").click()
        page.locator(".jp-Notebook").get_by_text("Stopped").first.wait_for(timeout=60_000)


def test_a_reload_in_the_middle_of_a_run_loses_nothing(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("reloaded.ipynb", [LAUNCH % 100_000, "monitor = run.stop"])

    with server.lab(browser, notebook) as page:
        started(page)
        page.wait_for_function(
            "() => document.querySelector('.smtc-run .smtc-chart canvas') !== null",
            timeout=60_000,
        )
        command(page, "docmanager:save")
        page.wait_for_timeout(500)
        page.reload()
        page.wait_for_selector(".smtc-run .smtc-chart canvas", timeout=60_000)
        page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
            ".requestExecute({ code: 'run.stop()' }).done"
        )


def test_a_finished_run_is_shown_with_no_kernel_and_no_trust(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("finished.ipynb", [LAUNCH % 20, "run.wait()"])

    with server.lab(browser, notebook) as page:
        command(page, "notebook:run-all-cells")
        page.locator(".jp-Notebook").get_by_text("Completed").first.wait_for(timeout=90_000)
        wait_for_kernel(page)
        page.wait_for_function(HAS_RESULT)
        command(page, "docmanager:save")
        page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=30_000
        )
    saved = json.loads(notebook.read_text(encoding="utf-8"))
    outputs = [output for cell in saved["cells"] for output in cell["outputs"]]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "application/vnd.smtc-lab.run+json" in kinds
    assert "application/vnd.jupyter.widget-view+json" not in kinds

    for cell in saved["cells"]:
        cell["metadata"].pop("trusted", None)
    received = notebook.with_name("received.ipynb")
    received.write_text(json.dumps(saved), encoding="utf-8")
    with server.lab(browser, received) as page:
        page.locator(".jp-Notebook").get_by_text("Completed").first.wait_for(timeout=30_000)
        assert page.locator(".jp-OutputArea script").count() == 0


def test_hostile_names_are_text_everywhere(server: Server, browser: Browser) -> None:
    cell = """
import smtc_lab as lab
from tests.kit.hostile import HOSTILE_TEXTS
texts = [text[:200] for text in HOSTILE_TEXTS]
chart = lab.LiveChart(texts, title=texts[0], y_label=texts[2])
chart.extend([0, 1], *([1, 2] for _ in texts))
chart
"""
    workbench = """
workbench = lab.Workbench()
value = [dict(job) for job in workbench.value]
value[0]["cluster"] = dict(value[0]["cluster"], name=texts[0])
value[0]["hyperparameters"] = {text: text for text in texts}
workbench.value = value
workbench
"""
    shown = "workbench.jobs[1].model_copy(update={'hyperparameters': dict(zip(texts, texts))})"
    notebook = server.write("hostile.ipynb", [cell, workbench, shown])
    dialogs: list[str] = []

    with server.lab(browser, notebook) as page:
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        command(page, "notebook:run-all-cells")
        page.wait_for_selector(".smtc-workbench", timeout=60_000)
        page.wait_for_selector(".smtc-chart")
        page.locator(".smtc-saved").wait_for()
        page.get_by_text("onerror").first.wait_for()
        strangers = page.locator(
            ":is(.smtc, .smtc-saved) :is(a, base, form, iframe, img, link, math, meta, script)"
        )
        assert strangers.count() == 0

    assert dialogs == []


KERNEL_IS_IDLE = """() => {
  const { sessionContext } = window.jupyterapp?.shell.currentWidget ?? {};
  return sessionContext?.isReady && sessionContext.session?.kernel?.status === 'idle';
}"""


def test_a_run_is_watched_in_notebook_7(server: Server, browser: Browser) -> None:
    notebook = server.write("classic.ipynb", [LAUNCH % 100_000])

    with server.page(browser, f"notebooks/{notebook.name}") as page:
        page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)
        page.locator(".jp-Cell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".smtc-run .smtc-chart canvas", timeout=60_000)
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Stop it").click()
        page.locator(".jp-Notebook").get_by_text("Stopped").first.wait_for(timeout=60_000)
