"""What goes with notebooks in JupyterLab: saved results, their files, cells, and German."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.views.comparison.bundle import snapshot_of
from smtc_lab.views.run.kind import RUN
from smtc_lab.views.run.snapshot import take_snapshot
from tests.browser.lab_kit import lab_page, set_theme, speak
from tests.kit.browser.jupyter import command
from tests.kit.comparisons import example_comparison
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

COMPARISON_MIME = "application/vnd.smtc-lab.comparison+json"
HOSTILE = "<img src=x onerror=alert(1)>"


def comparison_json() -> dict[str, object]:
    comparison, runs = example_comparison()
    return snapshot_of(ComparisonOutcome(comparison=comparison, runs=tuple(runs))).as_dict()


def run_json(folder: Path) -> dict[str, object]:
    run = run_records([0.2] * 60)
    return take_snapshot(write_run_folder(folder, run, reason=HOSTILE)).as_dict()


def write_saved(path: Path, outputs: list[dict[str, object]]) -> Path:
    """Write a notebook that somebody else has run: nobody here trusts it."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": place,
            "id": f"cell-{place}",
            "metadata": {},
            "outputs": [
                {
                    "output_type": "execute_result",
                    "execution_count": place,
                    "metadata": {},
                    "data": {**data, "text/html": "a picture", "text/plain": "a text"},
                }
            ],
            "source": "outcome",
        }
        for place, data in enumerate(outputs, start=1)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


TRUSTED = "() => window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted"
OPEN_WITHOUT_KERNEL = """path => {
  const kernelPreference = { shouldStart: false };
  window.jupyterapp.commands.execute('docmanager:open', { path, kernelPreference });
}"""


def open_without_kernel(page: Page, notebook: Path) -> None:
    page.evaluate(OPEN_WITHOUT_KERNEL, notebook.name)


BESIDE = """() => {
  const { shell } = window.jupyterapp;
  const designer = [...shell.widgets('main')].find(one => one.id === 'smtc-lab-designer');
  shell.add(designer, 'main', { mode: 'split-right' });
}"""


def has_kernel(page: Page) -> bool:
    found: bool = page.evaluate(
        "() => window.jupyterapp.serviceManager.sessions.running().next().done === false"
    )
    return found


def test_saved_results_are_interactive_without_a_kernel_and_without_trust(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    later = {**comparison_json(), "version": 99}
    outputs = [
        {COMPARISON_MIME: comparison_json()},
        {RUN.mime: run_json(tmp_path)},
        {COMPARISON_MIME: later},
    ]
    notebook = write_saved(server.root / "saved.ipynb", outputs)

    with lab_page(server, browser) as page:
        open_without_kernel(page, notebook)
        chart = page.get_by_role("figure", name="Step time").first
        chart.wait_for()
        chart.get_by_role("button", name="Show as a table").click()

        chart.get_by_role("row", name="homogeneous (emulated)").wait_for()
        page.get_by_role("button", name="Single rounds").first.click()
        chart.get_by_role("button", name="Show as a table").click()
        chart.get_by_role("row", name="homogeneous, round 1").wait_for()
        page.locator(".smtc-run").wait_for(state="attached")
        assert not page.get_by_role("button", name="Stop").is_visible()
        assert page.locator("img[src=x]").count() == 0
        assert page.get_by_text("a picture").count() == 0
        trusted = (
            "() => window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted"
        )
        assert page.evaluate(trusted) is False
        assert not has_kernel(page)


def test_a_saved_comparison_opens_from_its_file(server: Server, browser: Browser) -> None:
    path = server.root / "outcome.smtc.json"
    path.write_text(json.dumps(comparison_json()), encoding="utf-8")

    with lab_page(server, browser) as page:
        page.locator(".jp-DirListing-item", has_text=path.name).dblclick()

        verdict = page.locator(".jp-MimeDocument .smtc-verdict-sentence")
        assert "the speed of homogeneous" in verdict.inner_text()


def test_axe_finds_nothing_serious_in_saved_results_and_the_designer(
    server: Server, browser: Browser
) -> None:
    path = server.root / "looked_at.smtc.json"
    path.write_text(json.dumps(comparison_json()), encoding="utf-8")
    with lab_page(server, browser) as page:
        open_without_kernel(page, path)
        page.locator(".jp-MimeDocument .smtc-verdict-sentence").wait_for()
        results = Axe().run(page, context=".jp-MimeDocument .smtc").response["violations"]
        command(page, "smtc-lab:open-designer")
        page.locator(".smtc-workbench").wait_for()
        forms = Axe().run(page, context=".jp-SmtcDesigner .smtc").response["violations"]

    serious = [rule for rule in results + forms if rule["impact"] in {"serious", "critical"}]
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in serious] == []


def test_forms_put_cells_into_the_notebook_by_button_and_by_drag(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("cells.ipynb", ["1"])
    with lab_page(server, browser) as page:
        open_without_kernel(page, notebook)
        cells = page.locator(".jp-Notebook .jp-Cell")
        cells.first.wait_for()

        page.get_by_role("button", name="Workbench").click()
        cells.get_by_text("lab.Workbench()").wait_for()

        command(page, "smtc-lab:open-designer")
        page.get_by_role("radio", name="Code").check()
        page.get_by_role("button", name="Insert cell").click()
        page.get_by_text("Inserted.").wait_for()
        page.evaluate(BESIDE)
        cells.get_by_text("comparison = lab.launch_comparison(jobs").wait_for()

        page.get_by_role("radio", name="Picture").check()
        page.locator(".smtc-set-up-title").first.hover()
        page.mouse.down()
        box = cells.first.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 60, box["y"] + 10, steps=8)
        page.mouse.move(box["x"] + 60, box["y"] + 12)
        page.mouse.up()
        cells.get_by_text("run = lab.launch(job)").wait_for()


def test_the_designer_runs_a_comparison_without_a_kernel(
    server: Server, browser: Browser
) -> None:
    (server.root / "quick.py").write_text(QUICK_SCRIPT, encoding="utf-8")
    with lab_page(server, browser) as page:
        command(page, "smtc-lab:open-designer")
        form = page.locator(".smtc-workbench")
        form.wait_for()
        form.get_by_label("Training script").fill("missing.py")
        form.get_by_label("Launches of each").fill("1")
        # one set-up is enough, and a group of this machine needs no emulation
        form.get_by_role("button", name="Remove heterogeneous: set-up 2").click()
        kind = form.get_by_role("combobox", name="Instance type")
        kind.fill("local")
        kind.press("Enter")

        form.get_by_role("button", name="Run", exact=True).click()
        form.get_by_role("alert").filter(has_text="missing.py").wait_for()

        form.get_by_label("Training script").fill("quick.py")
        form.get_by_role("button", name="Run", exact=True).click()
        form.locator(".smtc-comparison .smtc-state-completed").wait_for(timeout=60_000)
        assert not has_kernel(page)


def test_an_unknown_type_stays_as_typed_and_a_click_beside_its_open_list_runs(
    server: Server, browser: Browser
) -> None:
    with lab_page(server, browser) as page:
        command(page, "smtc-lab:open-designer")
        form = page.locator(".smtc-workbench")
        form.get_by_label("Training script").fill("missing.py")
        form.get_by_role("button", name="Remove heterogeneous: set-up 2").click()
        kind = form.get_by_role("combobox", name="Instance type")
        run = form.get_by_role("button", name="Run", exact=True)

        kind.fill("ml.p3.3xlarge")
        kind.press("Enter")
        form.get_by_text("Instance type 'ml.p3.3xlarge' is not one of").wait_for()
        assert kind.input_value() == "ml.p3.3xlarge"
        assert kind.get_attribute("aria-invalid") == "true"
        assert run.is_disabled()

        kind.fill("local")
        kind.press("Enter")
        form.get_by_text("is not one of").wait_for(state="detached")
        kind.click()
        form.locator(".smtc-panel:visible").wait_for()
        run.scroll_into_view_if_needed()
        box = run.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.up()
        form.get_by_role("alert").filter(has_text="missing.py").wait_for()


def test_who_has_chosen_german_reads_german(german_server: Server, browser: Browser) -> None:
    speak(german_server, "de_DE")
    path = german_server.root / "outcome.smtc.json"
    path.write_text(json.dumps(comparison_json()), encoding="utf-8")

    with german_server.page(browser, f"lab/tree/{path.name}") as page:
        page.get_by_role("figure", name="Schrittzeit").first.wait_for()
        set_theme(page, "JupyterLab Dark")
        page.get_by_role("button", name="Einzelne Runden").click()
        command(page, "smtc-lab:open-designer")
        page.get_by_role("button", name="Aufbau hinzufügen").wait_for()

        assert page.get_by_text("Start 6 von 6").count() == 1
        # data of users stays as it is
        assert page.get_by_text("homogeneous, Runde 1").count() > 0
