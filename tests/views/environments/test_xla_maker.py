"""Making XLA's environment from a view. What makes it is a fake: it takes minutes and 9 GB."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments import make
from smtc_lab.views.environments.xla_maker import Making, XlaMaker
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class FakeMake:
    """Stands in for ``make_environment``, and ends when it is told to."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.error: Exception | None = None
        self.end = threading.Event()

    def __call__(self, name: str, *, say: Callable[[str], None]) -> None:
        self.names.append(name)
        say("Installing 80 packages.")
        self.end.wait(PATIENCE_S)
        if self.error is not None:
            raise self.error


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMake]:
    made = FakeMake()
    monkeypatch.setattr(make, "make_environment", made)
    yield made
    made.end.set()


def ended(maker: XlaMaker) -> Making:
    wait_until(lambda: maker.making.state != "making", what="the end of making")
    return maker.making


def test_it_tells_what_is_done_and_that_it_is_made(fake: FakeMake) -> None:
    maker, seen = XlaMaker(), []
    assert maker.making.state == "idle"

    assert maker.start().state == "making"
    maker.listen(lambda: seen.append(maker.making.state))
    wait_until(lambda: maker.making.sentence == "Installing 80 packages.", what="a sentence")
    fake.end.set()

    assert ended(maker) == Making(state="done", sentence="The environment 'xla' is ready.")
    wait_until(lambda: "done" in seen, what="listeners are told")


def test_asking_twice_makes_it_once(fake: FakeMake) -> None:
    maker = XlaMaker()

    maker.start()
    assert maker.start().state == "making"
    fake.end.set()
    ended(maker)

    assert fake.names == ["xla"]


def test_a_failure_is_told_and_can_be_tried_again(fake: FakeMake) -> None:
    maker = XlaMaker()
    fake.error = PythonEnvironmentError("The disk is full. Free the place.")
    fake.end.set()

    maker.start()

    assert ended(maker) == Making(state="failed", sentence="The disk is full. Free the place.")
    fake.error = None
    maker.start()
    assert ended(maker).state == "done"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_ever_whatever_breaks(fake: FakeMake) -> None:
    fake.error = RuntimeError("boom")
    fake.end.set()
    maker = XlaMaker()

    maker.start()

    assert "boom" in ended(maker).sentence


def test_a_listener_that_has_gone_is_not_told(fake: FakeMake) -> None:
    maker, seen = XlaMaker(), []

    def listener() -> None:
        seen.append(maker.making.state)

    maker.start()
    maker.listen(listener)
    maker.ignore(listener)
    seen.clear()
    fake.end.set()
    ended(maker)

    assert seen == []
