from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

WORKBENCH = """
import smtc_lab as lab
workbench = lab.Workbench(rounds=1)
jobs = [job.model_copy(update={"max_steps": 6}) for job in workbench.jobs]
workbench.jobs = jobs
workbench
"""

ENVIRONMENTS = """
import os, sys, tempfile
from pathlib import Path
os.environ["SMTC_LAB_ENVIRONMENTS"] = tempfile.mkdtemp()
from smtc_lab.machine.environments.named import add_environment
add_environment("mine", Path(sys.executable))
add_environment("false", Path("/bin/false"))
"""


def opened(page: Page) -> None:
    command(page, "application:toggle-left-area")  # the file browser takes half a small screen
    command(page, "notebook:run-all-cells")
    page.wait_for_selector(".smtc-workbench", timeout=60_000)


def test_the_first_click_runs_the_pair_and_tells_which_is_faster(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("first_click.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector(".smtc-comparison", timeout=30_000)
        page.wait_for_function(
            "() => /faster|slower|difference/.test("
            "document.querySelector('.smtc-comparison').textContent)",
            timeout=120_000,
        )
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()


def test_a_workbench_is_run_and_stopped_by_keyboard_alone(
    server: Server, browser: Browser
) -> None:
    long = WORKBENCH.replace('"max_steps": 6', '"max_steps": 5000')
    notebook = server.write("keyboard.ipynb", [long])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_role("button", name="Run", exact=True).focus()
        page.keyboard.press("Enter")
        stop = page.locator(".smtc-comparison").get_by_role("button", name="Stop")
        stop.wait_for(timeout=30_000)
        stop.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")  # the confirmation has the focus
        page.locator(".smtc-comparison").get_by_text("Stopped").first.wait_for(timeout=60_000)


def test_another_script_gets_none_of_the_examples_hyperparameters(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("other_script.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_label("Training script").fill("/home/me/train.py")
        code = page.locator(".smtc-workbench .smtc-code", has_text="/home/me/train.py")
        code.first.wait_for(state="attached")
        told = code.first.text_content() or ""

    assert "batch_size" not in told
    assert '"work"' not in told


def test_arguments_are_typed_as_in_a_shell(server: Server, browser: Browser) -> None:
    notebook = server.write("arguments.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        card = page.locator(".smtc-set-up").first
        part = card.get_by_text("Hyperparameters, arguments, steps")
        part.focus()
        page.keyboard.press("Enter")
        line = card.get_by_role("textbox", name="Arguments")
        line.fill("--dummy --name 'two")
        card.get_by_text("The quote ' is not closed.").wait_for()
        page.get_by_text("to be mended first").wait_for()
        assert page.get_by_role("button", name="Run", exact=True).is_disabled()
        line.press("End")
        page.keyboard.type(" words'")
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()
        page.get_by_role("radio", name="Code").check()
        page.get_by_text('arguments=["--dummy", "--name", "two words"]').first.wait_for()


def test_a_wrong_set_up_cannot_be_run_and_says_why(server: Server, browser: Browser) -> None:
    notebook = server.write("wrong.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_role("radio", name="Form").check()
        counts = page.locator(".smtc-set-up input[type=number]")
        counts.first.fill("0")
        page.get_by_text("to be mended first").wait_for()
        assert page.get_by_role("button", name="Run", exact=True).is_disabled()


def grab(page: Page, handle: Locator) -> None:
    """Press the mouse on a handle; again where a prediction that arrives has just moved it."""
    for _ in range(20):
        handle.hover()
        page.mouse.down()
        if handle.evaluate("element => element.hasPointerCapture(1)"):
            return
        page.mouse.up()
    pytest.fail("The handle was never below the mouse when it was pressed.")


def drag_while_the_page_scrolls(page: Page, handle: Locator, by: int) -> None:
    grab(page, handle)
    at, stage = handle.bounding_box(), handle.locator("..")
    above = stage.bounding_box()
    assert at is not None
    assert above is not None
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.wheel(0, by)
    page.wait_for_function(
        "([element, limit]) => element.getBoundingClientRect().top <= limit",
        arg=[stage.element_handle(), above["y"] - by / 2],
    )
    page.mouse.move(x, y + 1)
    page.mouse.up()


def test_a_cluster_is_changed_in_its_picture_by_mouse_and_by_keyboard(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("picture.ipynb", [WORKBENCH])
    counted = "() => document.querySelectorAll('.smtc-set-up .smtc-box').length"

    with server.lab(browser, notebook) as page:
        opened(page)
        first, second = (page.locator(".smtc-set-up").nth(place) for place in (0, 1))
        assert page.evaluate(counted) == 3
        first.get_by_role("button", name="+ data instances").click()
        first.get_by_role("slider", name="Instances of data_group").wait_for()
        assert page.evaluate(counted) == 4
        handle = second.get_by_role("slider", name="Instances of data_group")
        handle.focus()
        handle.press("ArrowUp")
        assert handle.get_attribute("aria-valuenow") == "2"
        drag_while_the_page_scrolls(page, handle, 120)
        assert int(handle.get_attribute("aria-valuenow") or 0) > 2
        handle.press("Control+z")
        handle.press("Control+z")
        assert handle.get_attribute("aria-valuenow") == "1"
        page.get_by_role("radio", name="Form").check()
        assert second.get_by_label("Count").nth(1).input_value() == "1"
        page.get_by_role("radio", name="Code").check()
        page.get_by_text('"data_group", "ml.c5.9xlarge"').first.wait_for()


def test_a_type_is_chosen_in_the_picture_and_a_template_adds_a_set_up(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("template.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_role("button", name="+ compile").click()
        card = page.get_by_role("region", name="compiled: set-up 3")
        chooser = card.get_by_role("combobox", name="Instance type").first
        chooser.fill("g5.2x")
        chooser.press("Enter")
        assert chooser.input_value() == "ml.g5.2xlarge"
        card.get_by_text("A: p3.2xlarge").wait_for()
        chooser.fill("ml.g5.nothing")
        chooser.press("Enter")
        card.get_by_text("is not one of the").wait_for()
        page.get_by_text("to be mended first").wait_for()


def test_a_set_up_gets_another_python_environment_by_keyboard(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("environments.ipynb", [ENVIRONMENTS, WORKBENCH])
    asked = "() => document.querySelector('.smtc-set-up .smtc-environment option:nth-child(3)')"

    with server.lab(browser, notebook) as page:
        opened(page)
        page.wait_for_function(f"{asked}.text.startsWith('mine (torch ')")
        card = page.locator(".smtc-set-up").nth(1)
        select = card.get_by_label("Python environment")
        assert select.locator("option").nth(1).is_disabled()
        card.get_by_text("Why false cannot be chosen").click()
        card.get_by_text("does not answer as a Python does").wait_for()
        select.focus()
        page.keyboard.press("m")
        card.get_by_role("heading", name="heterogeneous, mine: set-up 2").wait_for()
        page.get_by_role("radio", name="Code").check()
        page.get_by_text('python_environment="mine"').first.wait_for()


def test_keys_that_are_pressed_in_a_form_do_not_reach_the_notebook(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("keys.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_role("button", name="Add a set-up").focus()
        page.keyboard.press("d")
        page.keyboard.press("d")
        assert page.locator(".jp-Notebook .jp-Cell").count() == 1
        assert page.locator(".smtc-workbench").count() == 1


def test_the_keys_of_the_application_work_while_a_form_has_the_focus(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("saved.ipynb", [WORKBENCH])
    dirty = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"

    with server.lab(browser, notebook) as page:
        opened(page)
        page.wait_for_function(dirty)
        name = page.locator(".smtc-set-up input").first
        name.focus()
        name.press("End")
        name.press("x")
        name.press("Control+z")  # the text's, not the notebook's
        assert page.locator(".smtc-workbench").count() == 1
        name.press("Control+s")
        page.wait_for_function(f"() => !({dirty})()", timeout=30_000)
