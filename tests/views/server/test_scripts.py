"""The scripts that a form without a kernel offers, asked of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Ask = Callable[..., Awaitable[tuple[int, Any]]]


async def test_a_form_begins_with_the_folder_of_the_server(ask: Ask) -> None:
    status, told = await ask("scripts", body={"folder": ""})

    assert status == 200
    assert told["folder"]["problem"] == ""
    assert "digits.py" in [each["label"] for each in told["examples"]]
    assert told["cells"] == []


async def test_a_folder_that_is_asked_for_is_looked_into(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "train.py").touch()

    _, told = await ask("scripts", body={"folder": str(folder)})

    assert told["folder"]["path"] == str(folder)
    assert told["folder"]["files"] == ["train.py"]


@pytest.mark.parametrize("body", [{}, {"folder": 7}, {"folder": "x" * 4097}, ["/"]])
async def test_what_names_no_folder_is_refused_with_what_to_do(ask: Ask, body: Any) -> None:
    status, answer = await ask("scripts", body=body)

    assert status == 400
    assert "Send folder" in answer["message"] or "JSON object" in answer["message"]


async def test_a_null_byte_in_a_path_is_no_accident(ask: Ask) -> None:
    status, told = await ask("scripts", body={"folder": "/tmp/\0"})  # noqa: S108  it is none

    assert status == 200
    assert "cannot be looked into" in told["folder"]["problem"]
