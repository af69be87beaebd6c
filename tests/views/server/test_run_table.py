"""The table of runs for a browser: pages, refusals, and what is said of runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.store.state import RunState, write_state
from smtc_lab.views.run_table import tables
from smtc_lab.views.run_table.page import Asked, Pages
from smtc_lab.views.run_table.table import runs
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Ask = Callable[..., Awaitable[tuple[int, Any]]]


def write(root: Path, *names: str) -> None:
    for started_s, name in enumerate(names, start=1):
        folder = write_run_folder(root, run_records([0.2], job_name=name))
        write_state(folder, RunState(state="Completed", started_s=started_s))


def names(told: dict[str, Any]) -> list[str]:
    return [row["name"] for row in told["rows"]]


def test_a_table_is_read_again_soon_where_something_goes_on_or_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: clock.now_s, now_s=0.0)
    monkeypatch.setattr(tables, "time", clock)
    shown = tables.RunTables(tmp_path)

    def found(*, after_s: float) -> list[str]:
        clock.now_s += after_s
        return names(shown.page({}, is_fresh=False))

    write(tmp_path, "ended-1")
    assert found(after_s=0) == ["ended-1"]
    write(tmp_path, "ended-2")
    assert found(after_s=4) == ["ended-1"]
    assert found(after_s=2) == ["ended-2", "ended-1"]
    (tmp_path / "ended-2" / "state.json").write_text("{")
    assert found(after_s=59) == ["ended-2", "ended-1"]
    assert shown.page({}, is_fresh=True)["rows"][0]["state"] == "Damaged"


async def test_a_page_is_filtered_sorted_and_cut(ask: Ask, root: Path) -> None:
    write(root, "b-1", "a-2", "c-3")

    _, told = await ask("table")
    assert names(told) == ["c-3", "a-2", "b-1"]
    assert {"name": "cost_usd", "title": "cost", "kind": "usd"} in told["known"]
    params = {"sort": "-name", "first": "1", "count": "1", "columns": "started"}
    _, told = await ask("table", params=params)
    assert (names(told), told["found"], told["rows"][0]["cells"]) == (["b-1"], 3, [1.0])
    _, told = await ask("table", params={"where": 'name == "a-2"'})
    assert names(told) == ["a-2"]
    _, told = await ask("table", params={"where": "C-3 completed"})
    assert names(told) == ["c-3"]


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"where": "speed < 1"}, "No run has 'speed'"),
        ({"where": "name <"}, "cannot be read"),
        ({"sort": "-speed"}, "No run has 'speed'"),
        ({"count": "201"}, "is no page"),
        ({"first": "-1"}, "first='-1' is no number of rows"),
    ],
)
async def test_what_is_no_page_is_refused(
    ask: Ask, root: Path, params: dict[str, str], told: str
) -> None:
    write(root, "a-1")

    status, refused = await ask("table", params=params)

    assert status == 400
    assert told in refused["message"]


async def test_notes_are_columns_and_hostile_texts_are_neutral(ask: Ask, root: Path) -> None:
    write(root, "a-1")

    body = {"title": "best\u202e <b>", "tags": ["x", "\x1b[31m"], "note": "n"}
    assert (await ask("runs", "a-1", "notes", body=body))[0] == 200

    _, told = await ask("table", params={"fresh": "1", "columns": "tags"})
    (row,) = told["rows"]
    assert row["title"].startswith("best")
    assert not {"\u202e", "\x1b"} & set(str(told))
    assert (await ask("runs", "a-1", "notes", body={"title": ""}))[0] == 200
    _, told = await ask("table", params={"fresh": "1"})
    assert (told["rows"][0]["title"], told["rows"][0]["note"]) == ("", "n")


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("a-1", {"tags": "x"}, 400),
        ("a-1", {"note": 1}, 400),
        ("a-1", {"title": "t" * 251}, 400),
        ("a-1", {}, 400),
        ("a-1", [], 400),
        ("b-2", {"note": "n"}, 404),
    ],
)
async def test_notes_that_do_not_fit_are_refused(
    ask: Ask, root: Path, name: str, body: object, status: int
) -> None:
    write(root, "a-1")

    assert (await ask("runs", name, "notes", body=body))[0] == status
    assert not (root / "a-1" / "notes.json").exists()


def test_a_title_stands_before_the_name_and_unknown_columns_are_left_out(
    tmp_path: Path,
) -> None:
    write(tmp_path, "a-1")
    (tmp_path / "a-1" / "notes.json").write_text('{"title": "best"}')

    table = runs(tmp_path)

    assert "best (a-1)" in str(table)
    page = Pages(table).page(Asked(columns=("seed", "metric.gone")))
    assert page["columns"] == ["seed"]
