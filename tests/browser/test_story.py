"""The one story of the workbench: from a launcher's card to what came of a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.code.set_ups import first_jobs
from tests.browser.lab_kit import lab_page
from tests.kit.browser.jupyter import command
from tests.kit.calibrations import keep_calibration
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

CARD = "Compare Clusters"
MOST_TABS = 80
MOST_ACTIONS = 5
COUNT = """() => {
  window.actions = 0;
  let key = '';
  document.addEventListener('pointerdown', () => { window.actions += 1; }, true);
  document.addEventListener('keydown', event => {
    // a walk with Tab is one action, however long it is
    window.actions += event.key === 'Tab' && key === 'Tab' ? 0 : 1;
    key = event.key;
  }, true);
}"""
TRAINING = """
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is named so has the focus."""
    named = "name => (document.activeElement.ariaLabel ?? document.activeElement.textContent)"
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(f"{named}.trim() === name", name):
            return
    raise AssertionError(f"no Tab of {MOST_TABS} leads to {name!r}")


def test_a_script_of_ones_own_is_compared_with_four_clicks(
    server: Server, browser: Browser
) -> None:
    (server.root / "my_training.py").write_text(QUICK_SCRIPT, encoding="utf-8")

    with lab_page(server, browser) as page:
        page.evaluate(COUNT)
        page.locator(".jp-LauncherCard", has_text=CARD).click()
        page.get_by_role("button", name="Choose …").click()
        # JupyterLab's own list of files has it, too
        page.locator(".smtc-scripts").get_by_role("button", name="my_training.py").click()
        script = page.get_by_label("Training script")
        assert script.input_value() == str(server.root / "my_training.py")
        page.get_by_role("button", name="Run", exact=True, disabled=False).click()

        page.locator(".smtc-comparison").get_by_text("Running").first.wait_for(timeout=60_000)
        assert page.evaluate("window.actions") == 4 < MOST_ACTIONS


def test_the_demo_is_compared_by_keyboard_alone(server: Server, browser: Browser) -> None:
    with lab_page(server, browser) as page:
        page.evaluate(COUNT)
        card = page.locator(".jp-LauncherCard", has_text=CARD)
        card.focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()
        tab_to(page, "Run")
        page.keyboard.press("Enter")

        page.locator(".smtc-comparison").get_by_text("Running").first.wait_for(timeout=60_000)
        assert page.evaluate("window.actions") == 3 < MOST_ACTIONS


def test_a_folder_is_looked_into_and_left_by_keyboard(server: Server, browser: Browser) -> None:
    folder = server.root / "scripts"
    folder.mkdir()
    (folder / "inner.py").touch()

    with lab_page(server, browser) as page:
        command(page, "smtc-lab:open-designer")
        choose = page.get_by_role("button", name="Choose …")
        choose.focus()
        page.keyboard.press("Enter")
        page.locator(".smtc-scripts").get_by_role("button", name="scripts/").focus()
        page.keyboard.press("Enter")
        inner = page.get_by_role("button", name="inner.py")
        inner.wait_for()
        tab_to(page, "Folder above")
        page.keyboard.press("Escape")
        inner.wait_for(state="hidden")
        assert choose.evaluate("button => button === document.activeElement")


def test_a_cell_that_trains_is_chosen_as_the_script(server: Server, browser: Browser) -> None:
    shown = "import smtc_lab as lab\nlab.Workbench()"
    notebook = server.write("cells.ipynb", [TRAINING, shown])

    with server.lab(browser, notebook) as page:
        command(page, "notebook:run-all-cells")
        page.get_by_role("button", name="Choose …").click(timeout=60_000)
        page.get_by_text("6 lines: imports torch").wait_for()
        page.get_by_role("button", name="Cell [1]").click()
        script = page.get_by_label("Training script")
        page.wait_for_function(
            "field => /cells.cell_[0-9a-f]+\\.py$/.test(field.value)",
            arg=script.element_handle(),
        )


def test_what_was_predicted_stands_behind_what_is_measured(
    server: Server, browser: Browser
) -> None:
    keep_calibration(first_jobs()[0], server.runs_root)  # of the script's text, wherever it is

    with lab_page(server, browser) as page:
        command(page, "smtc-lab:open-designer")
        page.locator(".smtc-foreseen .smtc-figure").first.wait_for(timeout=60_000)
        page.get_by_role("button", name="Run", exact=True, disabled=False).click()
        pictures = page.locator(".smtc-pictures figure")
        pictures.first.wait_for(timeout=60_000)
        assert pictures.nth(1).get_by_text("step time, predicted").is_visible()
        assert pictures.nth(1).locator(".smtc-hollow").first.is_visible()

        measured = pictures.first.get_by_text("step time, measured")
        measured.wait_for(timeout=60_000)
        assert pictures.first.get_by_text("predicted: ").first.is_visible()
