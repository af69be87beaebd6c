"""Themes, zoom, motion, names for screen readers: what every view owes to everybody."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.kit.browser.jupyter import Window, command

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
