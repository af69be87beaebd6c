"""What tests of views share that outlive kernel, page and server: cells, and what is shown."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.folder import studies_root
from smtc_lab.views.kinds import open_study
from tests.browser.lab_kit import open_dashboard, show_runs
from tests.kit.browser.jupyter import Window, command, running_server

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.kit.browser.jupyter import Server

LAUNCH = """
import smtc_lab as lab
cluster = lab.Cluster.parse("here@group=local:1")
job = lab.TrainingJob(entry_point="train.py", cluster=cluster, max_steps=1_000_000)
run = lab.launch(job)
run
"""
COMPARE = """
import smtc_lab as lab
jobs = [
    lab.TrainingJob(
        entry_point="train.py", cluster=lab.Cluster.parse(text), max_steps=1_000_000
    )
    for text in ("one@group=local:1", "two@group=local:1")
]
comparison = lab.launch_comparison(jobs)
comparison
"""
CELL = ".jp-Notebook .smtc-monitor"
"""The view in a cell."""

PANEL = ".jp-Smtc-main .smtc-monitor"
"""The view of a dashboard."""

_KERNEL = """async what => {
  const widgets = [...window.jupyterapp.shell.widgets('main')];
  const { sessionContext } = widgets.find(widget => widget.sessionContext);
  const kernel = sessionContext.session?.kernel;
  if (what === 'shutdown') {
    await sessionContext.shutdown();
  } else if (kernel && kernel.status !== 'dead') {
    // one that was killed may be restarted by its server at this moment
    await kernel.restart().catch(() => undefined);
  }
}"""
_IS_SAVED = """() => [...window.jupyterapp.shell.widgets('main')].every(
  ({ context }) => !context?.model?.dirty
)"""


_BESIDE = """() => {
  const { shell } = window.jupyterapp;
  const widgets = [...shell.widgets('main')];
  const dashboard = widgets.find(widget => widget.hasClass('jp-Smtc-main'));
  const notebook = widgets.find(widget => widget.sessionContext);
  shell.add(dashboard, 'main', { mode: 'split-right', ref: notebook.id });
  shell.activateById(notebook.id);
}"""
_LEAVE_DIALOGS = """new MutationObserver(() => {
  const dialog = document.querySelector('dialog.jp-Dialog');
  [...(dialog?.querySelectorAll('.jp-Dialog-button') ?? [])].at(-1)?.click();
}).observe(document, { childList: true, subtree: true });"""
WIDE = Window(width=1800)
"""Room for the list, a notebook and a dashboard beside it."""


def show_all(page: Page, name: str) -> None:
    """Show the list, the notebook that is open, and beside it the dashboard of a run."""
    show_runs(page)
    open_dashboard(page, name)
    page.evaluate(_BESIDE)


def leave_dialogs(page: Page) -> None:
    """Close JupyterLab's own dialogs, which say in front of all else what is gone."""
    page.add_init_script(_LEAVE_DIALOGS)  # for the next load of the page
    page.evaluate(_LEAVE_DIALOGS)


def run_cells(page: Page) -> None:
    """Run all cells, and wait for the first view."""
    command(page, "notebook:run-all-cells")
    page.wait_for_selector(CELL, timeout=60_000)


def restart_kernel(page: Page) -> None:
    """Restart the kernel of the notebook that is open, where there is one."""
    page.evaluate(_KERNEL, "restart")


def end_kernel(page: Page) -> None:
    """End the kernel of the notebook that is open."""
    page.evaluate(_KERNEL, "shutdown")


def save(page: Page) -> None:
    """Save the notebook that is open."""
    command(page, "docmanager:save-all")
    page.wait_for_function(_IS_SAVED, timeout=60_000)


def state_of(page: Page, view: str) -> str:
    """Return the state that a view shows; empty: it is not there."""
    badge = page.locator(f"{view} .smtc-badge")
    return (badge.first.text_content() or "") if badge.count() else ""


def await_state(page: Page, view: str, state: str) -> None:
    """Wait until a view shows a state."""
    page.wait_for_function(
        "([badge, state]) => document.querySelector(badge)?.textContent === state",
        arg=[f"{view} .smtc-badge", state],
        timeout=60_000,
    )


def stop_by(page: Page, view: str) -> None:
    """Stop by the button of a view."""
    shown = page.locator(view).first
    shown.get_by_role("button", name="Stop", exact=True).click()
    shown.get_by_role("button", name="Stop it").click()


class Home:
    """A Jupyter server that can be gone for a while."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._running = contextlib.ExitStack()
        self.server = self._start(None)

    def stop_all(self) -> None:
        """Stop what runs, by its folders: the server may be gone."""
        root = self.server.runs_root
        for study in studies_root(root).glob("*/request.json"):
            open_study(str(study.parent)).stop()
        for folder in find_runs(root):
            Run.open(str(folder.path)).stop()

    def stop_server(self, number: int = signal.SIGTERM) -> None:
        os.kill(self.server.pid, number)
        self._running.close()

    def start_server_again(self) -> None:
        self.server = self._start(self.server)

    def _start(self, before: Server | None) -> Server:
        notebooks = self._folder / "notebooks"
        context = running_server(self._python, notebooks, home=self._folder, instead_of=before)
        return self._running.enter_context(context)
