"""What a stream does not take: from a page, and from folders that are damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder
    from tests.kit.lab_tab import Tab

    OpenTab = Callable[[], Awaitable[Tab]]

HOSTILE = "<img src=x onerror=alert(1)>\u202e{{7*7}} %s"


@pytest.fixture
def growing(root: Path) -> RunFolder:
    """Return a run that goes on, with three steps."""
    return write_run_folder(root, run_records([0.2] * 3, state="InProgress"))


def has_steps(tab: Tab, number: int) -> bool:
    return "steps" in tab.tables[number]


@pytest.mark.parametrize(
    ("view", "name", "message"),
    [
        ("run-monitor", "gone", "There is no run named 'gone'"),
        ("comparison-monitor", "gone", "There is no comparison named 'gone'"),
        ("run-monitor", "../runs/train-r1", "There is no run named '../runs/train-r1'"),
        ("run-monitor", "", "There is no run named ''"),
        ("workbench", "x", "There is no view 'workbench' to watch"),
    ],
)
async def test_a_watch_that_cannot_begin_says_why(
    open_tab: OpenTab, growing: RunFolder, view: str, name: str, message: str
) -> None:
    tab = await open_tab()

    await tab.watch(3, view, name)
    await tab.until(lambda tab: tab.problems)

    assert growing.job_name == "train-r1"
    assert tab.problems[0][0] == 3
    assert tab.problems[0][1].startswith(message)


async def test_a_run_that_cannot_be_read_says_so_and_hurts_no_other_watch(
    open_tab: OpenTab, growing: RunFolder, root: Path
) -> None:
    bad = write_run_folder(root, run_records([0.2], job_name="bad"))
    bad.job_file.write_bytes(b"{")
    tab = await open_tab()

    await tab.watch(1, "run-monitor", "bad")
    await tab.watch(2, "run-monitor", growing.job_name)
    await tab.until(lambda tab: tab.problems and has_steps(tab, 2))

    assert "The job of run 'bad' cannot be read" in tab.problems[0][1]


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        [],
        {"type": "watch"},
        {"type": "watch", "id": "1", "view": "runs"},
        {"type": "message", "id": 1, "content": "stop"},
        {"type": "launch"},
    ],
)
async def test_a_message_that_is_none_is_refused_and_the_stream_goes_on(
    open_tab: OpenTab, growing: RunFolder, message: object
) -> None:
    tab = await open_tab()

    await tab.send(message)
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.until(lambda tab: has_steps(tab, 1))

    assert tab.problems[0][0] is None
    assert "is not known. Load the page again." in tab.problems[0][1]


async def test_messages_to_a_watch_that_is_not_there_change_nothing(
    open_tab: OpenTab, growing: RunFolder
) -> None:
    tab = await open_tab()
    await tab.say(9, type="stop")
    await tab.send({"type": "unwatch", "id": 9})
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.say(1, type="read", table=7, first=-1, end="x", most=None)
    await tab.until(lambda tab: has_steps(tab, 1))

    assert tab.problems == []


async def test_one_number_is_one_watch(open_tab: OpenTab, growing: RunFolder) -> None:
    tab = await open_tab()
    await tab.watch(1, "run-monitor", growing.job_name)
    await tab.watch(1, "runs")
    await tab.until(lambda tab: tab.problems and has_steps(tab, 1))

    assert tab.problems == [(1, "Watch 1 is there already. Count on.")]
    assert tab.rows == {}


async def test_hostile_words_of_a_run_arrive_as_text_that_turns_nothing_round(
    open_tab: OpenTab, root: Path
) -> None:
    folder = write_run_folder(root, run_records([0.2]), reason=HOSTILE)
    tab = await open_tab()
    await tab.watch(1, "runs")
    await tab.watch(2, "run-monitor", folder.job_name)
    await tab.until(lambda tab: tab.rows and tab.values[2])

    assert tab.rows[folder.job_name]["reason"] == HOSTILE.replace("\u202e", "\ufffd")
