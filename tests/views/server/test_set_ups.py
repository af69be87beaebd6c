"""The set-ups of a form without a kernel, checked by a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Ask = Callable[..., Awaitable[tuple[int, Any]]]


async def test_a_form_begins_with_the_pair_of_the_demo(ask: Ask) -> None:
    status, answer = await ask("set-ups", body={"value": None, "rounds": 2})

    assert status == 200
    assert [job["cluster"]["name"] for job in answer["value"]] == [
        "homogeneous",
        "heterogeneous",
    ]
    assert answer["problems"] == [[], []]
    assert "lab.launch_comparison(jobs, rounds=2)" in answer["code"]


async def test_what_the_server_calls_runnable_can_be_started(ask: Ask, script: str) -> None:
    _, first = await ask("set-ups", body={"value": None, "rounds": 1})
    here = [{"instance_group_name": "here", "instance_type": "local", "instance_count": 1}]
    typed = {**first["value"][0], "entry_point": script, "cluster": {"instance_groups": here}}
    _, checked = await ask("set-ups", body={"value": [typed], "rounds": 1})

    status, started = await ask(
        "runs", body={"kind": "comparison", "jobs": checked["jobs"], "rounds": 1}
    )

    assert status == 201, started


async def test_what_is_typed_wrong_is_told_for_each_set_up(ask: Ask) -> None:
    _, first = await ask("set-ups", body={"value": None, "rounds": 1})
    wrong = {**first["value"][1], "max_steps": 0}

    status, answer = await ask(
        "set-ups", body={"value": [first["value"][0], wrong, 7], "rounds": 1}
    )

    good, bad, none = answer["problems"]
    assert status == 200
    assert good == []
    assert "max_steps" in bad[0]
    assert len(none) == 1
    assert answer["jobs"] == []
    assert answer["code"] == ""
    assert answer["cells"][1:] == ["", ""]


@pytest.mark.parametrize(
    "body", ["no JSON", {}, {"value": {}, "rounds": 1}, {"value": None, "rounds": 0}]
)
async def test_what_holds_no_set_ups_is_refused_with_what_to_do(ask: Ask, body: Any) -> None:
    status, answer = await ask("set-ups", body=body)

    assert status == 400
    assert any(remedy in answer["message"] for remedy in ("Send", "Load the page again"))
