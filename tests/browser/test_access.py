"""Themes, zoom, motion, names for screen readers: what every view owes to everybody."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from smtc_lab.views.comparison.described import described
from tests.kit.browser.jupyter import Window, command
from tests.kit.comparisons import example_comparison

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

VIEWS = """
import smtc_lab as lab
from ipywidgets import VBox
chart = lab.LiveChart(["loss"], title="Loss", y_label="loss")
chart.extend(range(100), [1 / (step + 1) for step in range(100)])
VBox([lab.Workbench(), lab.CompilerSettings(), lab.InstanceTypePicker(), chart])
"""
DARK = "JupyterLab Dark"
LIGHT = "JupyterLab Light"


def opened(page: Page) -> None:
    command(page, "application:toggle-left-area")
    command(page, "notebook:run-all-cells")
    page.wait_for_selector(".smtc-workbench", timeout=60_000)
    page.locator(".smtc-chart").scroll_into_view_if_needed()  # it is drawn once it is seen
    page.wait_for_selector(".smtc-chart canvas")


def set_theme(page: Page, theme: str) -> None:
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
    )
    light = "true" if theme == LIGHT else "false"
    page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_axe_finds_nothing_serious_in_any_form_or_chart(
    server: Server, browser: Browser, theme: str
) -> None:
    notebook = server.write(f"axe_{theme.rsplit(maxsplit=1)[-1]}.ipynb", [VIEWS])

    with server.lab(browser, notebook) as page:
        opened(page)
        set_theme(page, theme)
        for details in page.locator(".smtc details").all():
            details.evaluate("element => { element.open = true }")
        found = Axe().run(page, context=".smtc").response["violations"]

    serious = [rule for rule in found if rule["impact"] in {"serious", "critical"}]
    assert [
        (rule["id"], [node["html"][:120] for node in rule["nodes"]][:3]) for rule in serious
    ] == []


def test_the_colours_follow_the_theme_while_it_changes(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("theme.ipynb", [VIEWS])
    ink = "() => getComputedStyle(document.querySelector('.smtc-workbench')).color"
    pixels = "() => document.querySelector('.smtc-chart canvas')?.toDataURL()"

    with server.lab(browser, notebook) as page:
        opened(page)
        set_theme(page, LIGHT)
        page.wait_for_timeout(500)
        light = page.evaluate(ink), page.evaluate(pixels)
        set_theme(page, DARK)
        page.wait_for_function(f"before => ({ink})() !== before", arg=light[0])
        page.locator(".smtc-chart").scroll_into_view_if_needed()
        page.wait_for_function(
            f"before => ![undefined, before].includes(({pixels})())", arg=light[1]
        )


@pytest.mark.parametrize(
    ("body", "system", "paper"),
    [
        ("", "light", "rgb(255, 255, 255)"),
        ("", "dark", "rgb(20, 23, 28)"),
        ("data-jp-theme-light=true", "dark", "rgb(255, 255, 255)"),
        ("data-jp-theme-light=false", "light", "rgb(20, 23, 28)"),
        ("data-vscode-theme-kind=vscode-light", "dark", "rgb(255, 255, 255)"),
        ("data-vscode-theme-kind=vscode-dark", "light", "rgb(20, 23, 28)"),
    ],
)
def test_a_page_that_tells_no_theme_is_as_dark_as_the_system(
    wheel: Path, browser: Browser, body: str, system: Literal["dark", "light"], paper: str
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        styles = archive.read("smtc_lab/views/static/widget.css").decode()
    part = "<p id=part style='background: var(--smtc-paper)'>"
    page = browser.new_page(color_scheme=system)

    page.set_content(f"<style>{styles}</style><body {body}><div class=smtc>{part}")

    color = "getComputedStyle(document.getElementById('part')).backgroundColor"
    assert page.evaluate(color) == paper
    page.close()


@pytest.mark.parametrize("window", [Window(width=360), Window(zoom=2.0)], ids=["360px", "200%"])
def test_nothing_is_cut_off(server: Server, browser: Browser, window: Window) -> None:
    notebook = server.write(f"small_{window.width}.ipynb", [VIEWS])

    with server.lab(browser, notebook, window=window) as page:
        opened(page)
        cut_off = page.evaluate(
            """() => [...document.querySelectorAll('.smtc')]
              .filter(view => view.scrollWidth > view.clientWidth + 1)
              .map(view => view.firstElementChild.className)"""
        )

    assert cut_off == []


SHOWN = """async ({ code, info }) => {
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const values = { _view: 'comparison-monitor', info, stop_problem: '', result: '' };
  values.beat = { number: 0, elapsed_s: info.elapsed_s };
  const nothing = () => undefined;
  const model = { get: name => values[name], on: nothing, off: nothing, send: nothing };
  const widget = (await import(url)).default();
  widget.initialize({ model });
  widget.render({ model, el: document.getElementById('here') });
}"""
LINES_OF = """word => [...document.querySelectorAll('table.smtc-set-ups :is(th, td)')]
  .filter(cell => cell.lastChild?.textContent === word)
  .map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell.lastChild);
    return range.getClientRects().length;
  })"""


@pytest.mark.parametrize("width", [360, 1280])
def test_no_word_of_a_comparison_is_cut_in_two(
    wheel: Path, browser: Browser, width: int
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        styles, code = (
            archive.read(f"smtc_lab/views/static/widget.{kind}").decode()
            for kind in ("css", "js")
        )
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(f"<style>{styles}</style><body><div id=here>")

    info = described(*example_comparison()).to_json()
    page.evaluate(SHOWN, {"code": code, "info": info})

    assert page.evaluate(LINES_OF, "heterogeneous") == [1]
    assert page.evaluate(LINES_OF, "speed-up") == [1]
    table = page.locator("table.smtc-set-ups")
    assert table.evaluate("it => it.scrollWidth <= it.parentElement.clientWidth")
    assert page.get_by_role("rowheader", name="speed-up").count() == 1
    assert page.get_by_role("columnheader", name="heterogeneous").count() == 1
    page.close()


def test_nothing_moves_where_the_system_asks_for_no_motion(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("motion.ipynb", [VIEWS])

    with server.lab(browser, notebook, window=Window(has_reduced_motion=True)) as page:
        opened(page)
        moving = page.evaluate(
            """() => document.getAnimations()
              .filter(motion => motion.effect?.target?.closest('.smtc')).length"""
        )

    assert moving == 0
