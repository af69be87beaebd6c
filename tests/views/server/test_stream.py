"""The stream of a browser tab, to a real server; runs are written by hand."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.run import Run
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.server.lab import SETTING
from tests.kit.records import STARTED_S, run_records, step_record
from tests.kit.run_folders import set_state, write_many_steps, write_run_folder
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder
    from tests.kit.lab_tab import Tab

    OpenTab = Callable[[], Awaitable[Tab]]


@pytest.fixture
def growing(root: Path) -> RunFolder:
    """Return a run that goes on, with three steps."""
    return write_run_folder(root, run_records([0.2] * 3, state="InProgress"))


def add_steps(folder: RunFolder, first: int, end: int) -> None:
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for step in range(first, end):
            writer.append(step_record(step=step))


def steps_of(tab: Tab, number: int) -> list[float]:
    table = tab.tables[number].get("steps")
    return [] if table is None else table.column("step")


async def test_a_watch_tells_what_a_widget_would_know(
    open_tab: OpenTab, growing: RunFolder
) -> None:
    tab = await open_tab()
    await tab.watch(7, "run-monitor", growing.job_name)
    await tab.until(lambda tab: len(steps_of(tab, 7)) == 3)

    values = tab.values[7]
    problems = {"stop_problem", "interrupt_problem", "resume_problem"}
    assert set(values) == {"info", "log", "beat", *problems}
    assert values["info"]["job_name"] == "train-r1"
    assert values["log"] == {"lines": [], "unfinished": [], "leftOut": 0, "silent": []}
    assert values["stop_problem"] == ""


async def test_every_step_of_a_growing_run_comes_once(
    open_tab: OpenTab, growing: RunFolder
) -> None:
    tab = await open_tab()
    await tab.watch(1, "run-monitor", growing.job_name)
    for first in range(3, 103, 20):
        add_steps(growing, first, first + 20)
        await tab.until(lambda tab, end=first + 20: len(steps_of(tab, 1)) == end)
    set_state(growing, "Completed")
    await tab.until(lambda tab: tab.values[1]["info"]["ended"])

    assert steps_of(tab, 1) == list(range(103))
    assert tab.tables[1]["steps"].gaps == 0


async def test_tabs_that_watch_the_same_share_one_watch_and_each_get_everything(
    open_tab: OpenTab, growing: RunFolder, jp_serverapp: Any
) -> None:
    tabs = [await open_tab(), await open_tab()]
    for number, tab in enumerate(tabs):
        await tab.watch(number, "run-monitor", growing.job_name)
        await tab.until(lambda tab, number=number: steps_of(tab, number) == [0, 1, 2])
    add_steps(growing, 3, 5)
    for number, tab in enumerate(tabs):
        await tab.until(lambda tab, number=number: len(steps_of(tab, number)) == 5)
        assert steps_of(tab, number) == [0, 1, 2, 3, 4]
        assert tab.tables[number]["steps"].gaps == 0

    hub = jp_serverapp.web_app.settings[SETTING].hub()
    assert len(hub._topics) == 1


async def test_what_nobody_watches_is_watched_no_more(
    open_tab: OpenTab, growing: RunFolder, jp_serverapp: Any
) -> None:
    tab, other = await open_tab(), await open_tab()
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.watch(2, "runs")
    await other.watch(1, "run-monitor", growing.job_name)
    for each in (tab, other):
        await each.until(lambda tab: steps_of(tab, 1))
    hub = jp_serverapp.web_app.settings[SETTING].hub()
    watch = hub._topics["run-monitor", growing.job_name]._watch

    await tab.send({"type": "unwatch", "id": 1})
    await tab.send({"type": "unwatch", "id": 2})
    await tab.watch(3, "comparison-monitor", "none")  # answered after the two
    await tab.until(lambda tab: tab.problems)
    assert set(hub._topics) == {("run-monitor", growing.job_name)}
    other.close()
    await tab.watch(4, "runs")
    await tab.until(lambda tab: tab.values[4])

    # not in this thread, which is the server's
    assert await asyncio.to_thread(watch.join, PATIENCE_S)
    assert set(hub._topics) == {("runs", "")}


async def test_after_a_cut_everything_comes_anew_and_nothing_is_missing_or_twice(
    open_tab: OpenTab, growing: RunFolder
) -> None:
    tab = await open_tab()
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.until(lambda tab: steps_of(tab, 1))
    tab.close()
    add_steps(growing, 3, 60)

    again = await open_tab()
    await again.watch(1, "run-monitor", growing.job_name)
    await again.until(lambda tab: len(steps_of(tab, 1)) >= 60)
    add_steps(growing, 60, 80)
    await again.until(lambda tab: len(steps_of(tab, 1)) == 80)

    assert steps_of(again, 1) == list(range(80))
    assert again.tables[1]["steps"].gaps == 0


async def test_a_page_may_ask_for_a_table_as_a_whole_and_for_rows_in_detail(
    open_tab: OpenTab, growing: RunFolder
) -> None:
    tab = await open_tab()
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.until(lambda tab: steps_of(tab, 1))
    before = tab.tables[1]["steps"].resets

    await tab.say(1, type="resync", table="steps")
    await tab.say(1, type="read", table="steps", first=1, end=3, most=10)
    await tab.until(lambda tab: tab.parts)

    assert tab.tables[1]["steps"].resets == before + 1
    assert tab.parts[0]["first"] == 1


async def test_a_run_of_many_steps_comes_in_bins(open_tab: OpenTab, root: Path) -> None:
    folder = write_run_folder(root, run_records([]))
    (folder.records / "algo-1-rank0.sqlite").unlink()
    write_many_steps(folder.records / "algo-1-rank0.sqlite", 100_000)
    tab = await open_tab()

    await tab.watch(1, "run-monitor", folder.job_name)
    await tab.until(lambda tab: steps_of(tab, 1))

    table = tab.tables[1]["steps"]
    assert table.first + table.rows.shape[1] == 100_000
    assert table.first > 0


async def test_the_list_tells_only_what_changed(open_tab: OpenTab, root: Path) -> None:
    for name in ("one", "two", "three"):
        write_run_folder(root, run_records([0.2], job_name=name, state="InProgress"))
    tab = await open_tab()
    await tab.watch(1, "runs")
    await tab.until(lambda tab: len(tab.rows) == 3)

    write_state(
        root_folder := write_run_folder(root, run_records([0.2], job_name="four")),
        RunState(state="Completed", started_s=STARTED_S, ended_s=STARTED_S + 3600),
    )
    shutil.rmtree(root / "two")
    await tab.until(lambda tab: set(tab.rows) == {"one", "three", "four"})

    assert sum(row["usd_per_hour"] for row in tab.rows.values() if row["ended_s"] is None) == (
        pytest.approx(2 * 3.6)
    )
    assert tab.rows["four"]["usd_so_far"] == pytest.approx(3.6)
    assert tab.values[1]["removed"] == ["two"]
    assert root_folder.job_name == "four"


async def test_a_stop_that_fails_is_told_to_all_tabs(
    open_tab: OpenTab, growing: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        def stop(self) -> None:
            raise LauncherError("No right to signal process 7. Ask its owner.")

        def interrupt(self) -> None:
            raise LauncherError("Its instances are not this machine's.")

    monkeypatch.setattr(Run, "open", lambda _path: Refusing())
    tabs = [await open_tab(), await open_tab()]
    for tab in tabs:
        await tab.watch(1, "run-monitor", growing.job_name)
        await tab.until(lambda tab: steps_of(tab, 1))

    await tabs[0].say(1, type="stop")
    await tabs[0].say(1, type="interrupt")

    for tab in tabs:
        await tab.until(lambda tab: tab.values[1]["stop_problem"])
        assert tab.values[1]["stop_problem"] == (
            "The run could not be stopped: No right to signal process 7. Ask its owner."
        )
        await tab.until(lambda tab: tab.values[1]["interrupt_problem"])
        assert tab.values[1]["interrupt_problem"] == (
            "The run could not be interrupted: Its instances are not this machine's."
        )
