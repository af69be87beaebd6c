"""Python environments over a real server. What makes XLA's is a fake: it takes minutes."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.machine.environments import make
from smtc_lab.machine.environments.named import ENVIRONMENTS_VARIABLE, add_environment
from smtc_lab.machine.environments.probe import todays_facts
from smtc_lab.views.environments.xla_maker import XlaMaker
from smtc_lab.views.server import hub
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Ask = Callable[..., Awaitable[tuple[int, Any]]]

HERE = Path(sys.executable)


@pytest.fixture(autouse=True)
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> XlaMaker:
    """Return what makes XLA's environment for this server, which has no environment."""
    monkeypatch.setenv(ENVIRONMENTS_VARIABLE, str(tmp_path / "environments"))
    own = XlaMaker()
    monkeypatch.setattr(hub, "XLA_MAKER", own)
    return own


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the names that are made, none of which ends before the test."""
    names, end = [], threading.Event()

    def fake(name: str, *, say: Callable[[str], None]) -> None:
        names.append(name)
        say("Installing 80 packages.")
        end.wait(PATIENCE_S)

    monkeypatch.setattr(make, "make_environment", fake)
    yield names
    end.set()


async def test_environments_are_told_with_their_torch(ask: Ask) -> None:
    add_environment("mine", HERE)

    status, told = await ask("environments")

    today, mine = told["choices"]
    assert status == 200
    assert (today["name"], mine["name"]) == ("today", "mine")
    assert mine["torch"] == today["torch"] == todays_facts().torch
    assert told["making"]["state"] == "idle"


async def test_xla_is_made_once_however_many_tabs_ask(
    ask: Ask, begun: list[str], maker: XlaMaker
) -> None:
    first, told = await ask("environments", body={"make": "xla"})
    second, _ = await ask("environments", body={"make": "xla"})

    assert (first, second) == (202, 202)
    assert told["making"]["state"] == "making"
    wait_until(lambda: maker.making.sentence.startswith("Installing"), what="it has begun")
    _, now = await ask("environments")
    assert now["making"] == {"state": "making", "sentence": "Installing 80 packages."}
    assert begun == ["xla"]


@pytest.mark.parametrize("body", ["no JSON", {}, {"make": "torch-2.11"}, {"make": None}])
async def test_nothing_else_is_made(ask: Ask, begun: list[str], body: Any) -> None:
    status, answer = await ask("environments", body=body)

    assert status == 400
    assert any(remedy in answer["message"] for remedy in ("Send", "Load the page again"))
    assert begun == []


async def test_a_set_up_in_a_missing_environment_is_told_what_is_wrong(ask: Ask) -> None:
    _, first = await ask("set-ups", body={"value": None, "rounds": 1})
    typed = [{**first["value"][0], "python_environment": "mine"}]

    _, before = await ask("set-ups", body={"value": typed, "rounds": 1})
    add_environment("mine", HERE)
    _, after = await ask("set-ups", body={"value": typed, "rounds": 1})

    assert before["problems"][0][0].startswith("There is no environment named 'mine'.")
    assert after["problems"] == [[]]
    assert 'python_environment="mine"' in after["cells"][0]
