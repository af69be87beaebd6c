"""The table of runs in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.store.run_folder import find_runs
from smtc_lab.views.run_table import widget
from smtc_lab.views.run_table.table import runs
from smtc_lab.views.run_table.widget import RunTableView
from tests.kit.records import run_records
from tests.kit.run_folders import opened, set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_chosen_runs_are_tagged_deleted_and_put_back(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for name in ("a-1", "b-2"):
        set_state(write_run_folder(root, run_records(job_name=name)), "Completed")
    view = RunTableView(runs(root).where('name != "c"'))
    row = {"name": "a-1", "kind": "run"}

    def send(**content: object) -> None:
        view._on_message(view, content, [])

    def shown() -> list[tuple[str, str]]:
        return sorted((row["name"], row["tags"]) for row in view.page["rows"])

    send(type="annotate", rows=[row], tags=["x"])
    assert shown() == [("a-1", "x"), ("b-2", "")]
    send(type="delete", rows=[row, {"name": "../x", "kind": "run"}])
    assert [name for name, _ in shown()] == ["b-2"]
    assert (view.told["done"], bool(view.told["problem"])) == (1, True)
    send(type="undo", ids=view.told["undo"])
    assert shown() == [("a-1", "x"), ("b-2", "")]
    assert len(list(find_runs(root))) == 2

    view.asked = {"where": "speed < 1"}
    assert "No run has 'speed'" in view.page["problem"]
    view.asked = {"where": "A-"}
    assert [name for name, _ in shown()] == ["a-1"]


def test_what_is_opened_or_compared_stands_below_the_table(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for name in ("a-1", "b-2"):
        opened(write_run_folder(root, run_records(job_name=name)))
    view = RunTableView(runs(root))

    view._on_message(view, {"type": "open", "name": "a-1", "kind": "run"}, [])
    _, monitor = view.box.children
    assert (type(monitor).__name__, monitor.run.job_name) == ("RunMonitor", "a-1")
    assert (view.told["done"], view.told["problem"]) == (1, "")
    view._on_message(view, {"type": "compare", "names": ["a-1", "b-2"]}, [])
    table, compared = view.box.children
    assert table is view
    assert [run["name"] for run in compared.comparison["runs"]] == ["a-1", "b-2"]
    assert monitor.comm is None  # it is closed

    for wrong in ({"type": "open", "name": "none"}, {"type": "compare", "names": ["a-1"]}):
        view._on_message(view, wrong, [])
        assert (view.told["done"], bool(view.told["problem"])) == (0, True)
    assert view.box.children == (table, compared)


def test_a_notebook_keeps_a_page_beside_the_widget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "runs"
    folder = write_run_folder(root, run_records(job_name="a-1"))
    (folder.path / "notes.json").write_text('{"title": "best\\u202e"}')
    table = runs(root)

    assert table._repr_mimebundle_() == {}  # no notebook
    kept = widget.bundle_of(table)
    monkeypatch.setattr(widget, "takes_clicks", lambda: True)
    live = widget.bundle_of(table)

    assert list(kept) == [widget.TABLE_MIME]
    assert "\u202e" not in str(kept)
    assert kept[widget.TABLE_MIME]["page"]["rows"][0]["title"].startswith("best")
    assert "application/vnd.jupyter.widget-view+json" in live
    assert live[widget.TABLE_MIME] == kept[widget.TABLE_MIME]
