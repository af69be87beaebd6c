"""Kernel, server, page and supervisor are killed in 20 random orders: all views agree.

After each order every view tells the state that the run's folder tells, and no process is left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import TERMINAL, current_state
from smtc_lab.views.text.format import state_word
from tests.browser.lab_kit import Runs
from tests.browser.lives_kit import (
    CELL,
    LAUNCH,
    PANEL,
    WIDE,
    await_state,
    leave_dialogs,
    restart_kernel,
    run_cells,
    save,
    show_all,
    stop_by,
)
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from tests.browser.lives_kit import Home

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

ORDERS = 20
PROGRAM = Path(sysconfig.get_path("scripts")) / "smtc-lab"
ROW = "name => [...document.querySelectorAll('.jp-Smtc-row')].some("
ROW += "row => row.textContent.includes(name) && row.textContent.includes('%s'))"


class Scene:
    """One run with all its views, and what may become of it."""

    def __init__(self, home: Home, page: Page, chance: random.Random) -> None:
        self._home, self.page, self._chance = home, page, chance
        (self.name,) = (
            row["name"] for row in Runs(home.server).rows() if row["state"] not in TERMINAL
        )
        self.folder = RunFolder(home.server.runs_root / self.name)
        self._where = ("--runs-dir", str(home.server.runs_root))

    def restart_kernel(self) -> None:
        restart_kernel(self.page)

    def kill_kernel(self) -> None:
        for process in psutil.Process(self._home.server.pid).children(recursive=True):
            if "ipykernel_launcher" in process.cmdline():
                process.kill()

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", state="attached")
        # else JupyterLab puts the tab to the front that was there, over what is opened now
        self.page.evaluate("() => window.jupyterapp.restored.then(() => null)")
        show_all(self.page, self.name)

    def kill_server(self) -> None:
        self._home.stop_server(signal.SIGKILL)
        self._home.start_server_again()

    def end_server(self) -> None:
        self._home.stop_server()
        self._home.start_server_again()

    def kill_supervisor(self) -> None:
        pid = current_state(self.folder).supervisor_pid
        if pid is not None and not self.is_over:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: self.is_over, what="the end of the run")

    def stop_in_the_cell(self) -> None:
        if not self.is_over:
            self.check()
            stop_by(self.page, CELL)
            wait_until(lambda: self.is_over, what="the end of the run")

    def stop_by_name(self) -> None:
        subprocess.run(
            [PROGRAM, "runs", "stop", self.name, *self._where],
            check=True,
            capture_output=True,
        )

    @property
    def is_over(self) -> bool:
        return current_state(self.folder).is_terminal

    def happenings(self) -> list[Callable[[], None]]:
        """Return what happens: two to four things that a run outlives, and then its end."""
        harmless = [
            self.restart_kernel,
            self.kill_kernel,
            self.reload,
            self.kill_server,
            self.end_server,
        ]
        ends = [self.kill_supervisor, self.stop_in_the_cell, self.stop_by_name]
        before = self._chance.sample(harmless, self._chance.randint(2, 4))
        after = self._chance.sample(harmless, self._chance.randint(0, 1))
        return [*before, self._chance.choice(ends), *after]

    def check(self) -> None:
        """Check that every view tells what the run's folder tells."""
        state = current_state(self.folder).state
        for view in (CELL, PANEL):
            await_state(self.page, view, state_word(state))
        self.page.wait_for_function(ROW % state_word(state), arg=self.name, timeout=60_000)
        assert Runs(self._home.server).row(self.name)["state"] == state
        told = subprocess.run(
            [PROGRAM, "runs", "show", self.name, "--json", *self._where],
            check=True,
            capture_output=True,
        )
        assert json.loads(told.stdout)["state"] == state


@pytest.fixture(autouse=True)
def _nothing_is_left_for_the_next_order(home: Home) -> Iterator[None]:
    yield
    home.stop_all()


@pytest.mark.parametrize("seed", range(ORDERS))
def test_every_view_tells_the_same_truth_and_no_process_is_left(
    home: Home, browser: Browser, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  no secret
    notebook = home.server.write(f"soak-{seed}.ipynb", [LAUNCH])

    with home.server.lab(browser, notebook, window=WIDE) as page:
        leave_dialogs(page)
        run_cells(page)
        save(page)
        scene = Scene(home, page, chance)
        show_all(page, scene.name)
        happened = []
        for happening in scene.happenings():
            happened.append(happening.__name__)
            happening()
            try:
                scene.check()
            except Exception as error:
                error.add_note(f"after {happened}")
                raise
    assert current_state(scene.folder).state in TERMINAL
    assert processes_after(scene.folder.path) == {}
    assert Run.open(str(scene.folder.path)).state.ended_s is not None
