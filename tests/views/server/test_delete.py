"""A browser deletes what has ended, and undoes that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.kit.records import run_records
from tests.kit.run_folders import going_on, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.kit.lab_tab import Tab
    from tests.kit.real_runs import CopyComparison

    Ask = Callable[..., Awaitable[tuple[int, Any]]]
    OpenTab = Callable[[], Awaitable[Tab]]


async def test_a_deleted_run_leaves_every_list_and_comes_back(
    ask: Ask, open_tab: OpenTab, root: Path
) -> None:
    folder = write_run_folder(root, run_records([0.2], job_name="old-1"))
    tab = await open_tab()
    await tab.watch(1, "runs")
    await tab.until(lambda tab: set(tab.rows) == {"old-1"})

    status, deleted = await ask("runs", "old-1", "delete", body={})

    assert (status, deleted["name"], deleted["launches"]) == (200, "old-1", [])
    await tab.until(lambda tab: not tab.rows)
    assert not folder.path.exists()
    assert (await ask("deletions", deleted["id"], "undo", body={}))[0] == 200
    await tab.until(lambda tab: set(tab.rows) == {"old-1"})
    assert folder.job_file.is_file()
    status, told = await ask("deletions", deleted["id"], "undo", body={})
    assert status == 409
    assert "it was undone before" in told["message"]


async def test_what_goes_on_is_not_deleted(ask: Ask, root: Path) -> None:
    folder = write_run_folder(root, run_records([0.2], job_name="new-1"))

    with going_on(folder):
        status, told = await ask("runs", "new-1", "delete", body={})

    assert status == 409
    assert told["message"] == "Run 'new-1' still goes on, so it is not deleted. Stop it first."
    assert folder.path.is_dir()
    assert (await ask("runs", "gone-1", "delete", body={}))[0] == 404


async def test_a_comparison_is_deleted_with_its_launches(
    ask: Ask, root: Path, ended_comparison: CopyComparison
) -> None:
    name = ended_comparison(root=root).name

    status, deleted = await ask("comparisons", name, "delete", body={})

    assert (status, len(deleted["launches"])) == (200, 4)
    assert (await ask("runs"))[1] == {"runs": []}
