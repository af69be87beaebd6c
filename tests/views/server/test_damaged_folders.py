"""One damaged folder is one row that says so; all other rows and requests work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.views.run_list import RunList, run_rows
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Ask = Callable[..., Awaitable[tuple[int, Any]]]

DAMAGES = {
    "nested": "[" * 200_000 + "]" * 200_000,
    "late": '{"state": "Completed", "started_s": 1e308}',
    "never": '{"state": "Completed", "started_s": NaN}',
    "typed": '{"state": ["Completed"], "reason": {}}',
    "long": '{"state": "Completed", "exit_codes": {"a": ' + "9" * 5_000 + "}}",
}


def text_of_list(root: Path) -> str:
    return str(RunList(rows=tuple(run_rows(root, last=20)), root=root, begin_with=""))


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_state_is_one_row_and_no_error_of_the_server(
    ask: Ask, root: Path, damage: str
) -> None:
    bad = write_run_folder(root, run_records([0.2], job_name="bad"))
    write_run_folder(root, run_records([0.2], job_name="good"))
    bad.state_file.write_text(DAMAGES[damage], encoding="utf-8")

    status, told = await ask("runs")

    rows = {row["name"]: row for row in told["runs"]}
    assert (status, rows["good"]["state"], rows["bad"]["state"]) == (
        200,
        "Completed",
        "Damaged",
    )
    assert "The state of run 'bad' cannot be read" in rows["bad"]["reason"]
    assert "bad   damaged: The state of run 'bad' cannot be read" in text_of_list(root)
    assert "good  Completed" in text_of_list(root)
    for request in (("bundle",), ("stop",)):
        body = {} if request == ("stop",) else None
        status, told = await ask("runs", "bad", *request, body=body)
        assert status == 409
        assert "cannot be read" in told["message"]


async def test_a_run_of_a_later_version_says_which(ask: Ask, root: Path) -> None:
    later = write_run_folder(root, run_records([0.2], job_name="later"))
    state = json.loads(later.state_file.read_text(encoding="utf-8"))
    later.state_file.write_text(json.dumps({**state, "schema_version": 7, "state": "Paused"}))

    _, told = await ask("runs")

    words = "'later' was written by a newer smtc_lab (schema 7)"
    assert words in told["runs"][0]["reason"]
    assert f"later  {words}" in text_of_list(root)
    assert (await ask("runs", "later", "bundle"))[0] == 409


async def test_a_stored_text_is_bounded_and_turns_nothing_round(ask: Ask, root: Path) -> None:
    folder = write_run_folder(root, run_records([0.2]), reason="\u202e3.1\u00d7" + "x" * 10**6)
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    plan["price_notes"] = ["\u202e3.1\u00d7 a price"]
    folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")

    _, told = await ask("runs")
    _, bundle = await ask("runs", folder.job_name, "bundle")

    assert len(json.dumps(told)) < 10_000
    assert told["runs"][0]["reason"].startswith("\ufffd3.1\u00d7x")
    assert "\u202e" not in json.dumps([told, bundle], ensure_ascii=False)
    assert "\ufffd3.1\u00d7 a price" in bundle["text/plain"]
