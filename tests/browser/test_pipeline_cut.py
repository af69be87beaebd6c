"""A planned pipeline as a picture: cut by mouse, finger and keys, dark, and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.kit.browser.jupyter import Window, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

PLAN = """
import torch, smtc_lab as lab
with torch.device("meta"):
    layers = [torch.nn.Linear(256, 256) for _ in range({layers})]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 2048))
    inputs, targets = torch.empty(64, 256), torch.empty(64, dtype=torch.long)
planned = lab.plan_pipeline(
    model, inputs, targets, torch.nn.functional.cross_entropy, pipeline={stages},
    microbatches=8, limit_bytes=12e6, device_step_s=0.8,
)
picture = lab.PipelineView(planned)
picture
"""
TOLD = "print(picture.pins, picture.planned.step.step_s > planned.step.step_s)"
STEP = ".smtc-cut-step"
DARK = "JupyterLab Dark"


@pytest.fixture(scope="module")
def page(server: Server, browser: Browser) -> Iterator[Page]:
    notebook = server.write("cut.ipynb", [PLAN.format(layers=12, stages=2), TOLD])
    with server.lab(browser, notebook) as opened:
        command(opened, "application:toggle-left-area")
        command(opened, "notebook:run-all-cells")
        opened.wait_for_selector(".smtc-cut", timeout=60_000)
        yield opened


@pytest.fixture
def cut(page: Page) -> Iterator[Locator]:
    yield page.locator(".smtc-cut")
    best = page.get_by_role("button", name="Best cut")
    if best.get_attribute("aria-disabled") == "false":
        best.click()
    page.locator(".smtc-stages-row:not([data-waiting])").wait_for()


def module(cut: Locator, name: str) -> Locator:
    return cut.locator("[role=option]").filter(has=cut.page.get_by_text(name, exact=True))


def stages(cut: Locator) -> list[list[str]]:
    lists = cut.locator("[role=listbox]").all()
    return [one.locator("b").all_text_contents() for one in lists]


def settled(cut: Locator, step: str) -> str:
    """Return what a step takes once it is not this any more."""
    cut.page.wait_for_function(
        f"before => document.querySelector('{STEP}').textContent !== before", arg=step
    )
    return cut.locator(STEP).inner_text()


def test_a_module_that_is_dragged_changes_the_predicted_step_as_it_moves(
    page: Page, cut: Locator
) -> None:
    before = cut.locator(STEP).inner_text()
    [*_, first], second = stages(cut)
    module(cut, first).scroll_into_view_if_needed()
    own, over = (
        module(cut, first).bounding_box(),
        cut.locator(".smtc-stage").last.bounding_box(),
    )
    assert own is not None
    assert over is not None

    page.mouse.move(own["x"] + 20, own["y"] + 8)
    page.mouse.down()
    page.mouse.move(over["x"] + 20, own["y"] + 8, steps=4)
    held = settled(cut, before)
    page.mouse.up()

    assert stages(cut)[1] == [first, *second]
    assert held == cut.locator(STEP).inner_text() != before
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    assert settled(cut, held) == before
    assert stages(cut)[1] == second


def test_arrow_keys_move_a_module_and_python_has_the_cut(page: Page, cut: Locator) -> None:
    before = cut.locator(STEP).inner_text()

    module(cut, "3").focus()
    page.keyboard.press("ArrowRight")
    settled(cut, before)

    assert module(cut, "3").evaluate("box => box === document.activeElement")
    assert stages(cut)[0] == ["0", "1", "2"]
    said = cut.locator("[role=status].smtc-sr")
    assert "3 moved with" in (said.text_content() or "")
    page.locator(".jp-Cell").nth(1).locator(".jp-Cell-inputArea .cm-content").click()
    command(page, "notebook:run-cell")
    page.get_by_text("{'2': 0, '3': 1} True").wait_for()


def test_what_does_not_fit_is_marked_and_told_in_megabytes(page: Page, cut: Locator) -> None:
    before = cut.locator(STEP).inner_text()

    module(cut, "1").focus()
    page.keyboard.press("ArrowRight")
    settled(cut, before)

    over = cut.locator(".smtc-stage[data-over]")
    assert over.count() == 1
    assert "MB short: holds" in over.inner_text()
    assert serious(page) == []


def serious(page: Page) -> list[tuple[str, str]]:
    """Return the rules of axe that the picture breaks badly."""
    found = Axe().run(page, context=".smtc-cut").response["violations"]
    bad = [rule for rule in found if rule["impact"] in {"serious", "critical"}]
    return [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in bad]


def test_axe_finds_nothing_serious_on_a_dark_page(page: Page, cut: Locator) -> None:
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", DARK
    )
    page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")

    assert cut.is_visible()
    assert serious(page) == []


@pytest.mark.parametrize("window", [Window(width=360), Window(zoom=2.0)], ids=["360px", "200%"])
def test_200_modules_can_be_read_where_there_is_little_room(
    server: Server, browser: Browser, window: Window
) -> None:
    name = f"many_{window.width}.ipynb"
    notebook = server.write(name, [PLAN.format(layers=200, stages=4).replace("12e6", "1e9")])

    with server.lab(browser, notebook, window=window) as page:
        command(page, "application:toggle-left-area")
        command(page, "notebook:run-all-cells")
        cut = page.locator(".smtc-cut")
        cut.wait_for(timeout=60_000)
        too_wide = cut.evaluate(
            """cut => [cut, ...cut.querySelectorAll('*')]
              .filter(part => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
              .filter(part => !part.closest('.smtc-stages-row, pre, .smtc-sr'))
              .map(part => part.className)"""
        )
        least = cut.locator("[role=option]").evaluate_all(
            "boxes => Math.min(...boxes.map(box => box.offsetHeight))"
        )
        before = cut.locator(STEP).inner_text()
        assert sum(map(len, stages(cut))) == 201
        cut.locator("[role=listbox]").nth(1).locator("[role=option]").nth(20).focus()
        page.keyboard.press("ArrowRight")
        settled(cut, before)

    assert too_wide == []
    assert least >= 24
