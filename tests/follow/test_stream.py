from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from smtc_lab.follow.frames import Frame
from smtc_lab.follow.stream import Stream
from smtc_lab.follow.table import LiveTable
from tests.kit.runs import PATIENCE_S


class Browser:
    """Keeps what it is sent, and waits for it."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.num_rows = 0
        self._came = threading.Condition()

    def receive(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        with self._came:
            self.messages.append(content)
            rows = len(np.frombuffer(buffers[0])) // len(content["columns"])
            self.num_rows = content["first"] + rows
            self._came.notify_all()

    def wait_for_rows(self, num_rows: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: self.num_rows >= num_rows, timeout=PATIENCE_S)


@pytest.fixture
def browser() -> Browser:
    return Browser()


def test_rows_are_sent_without_being_asked_for(browser: Browser) -> None:
    stream = Stream(browser.receive)
    table = stream.add(LiveTable("t", ["x"]))
    for row in range(1000):
        table.push(row)
        stream.notify()

    browser.wait_for_rows(1000)
    stream.close()
    # a slow machine may see a repetition
    assert {message["type"] for message in browser.messages} <= {"rows", "reset"}
    assert len(browser.messages) < 500


def test_a_browser_that_asks_again_gets_everything(browser: Browser) -> None:
    stream = Stream(browser.receive)
    one, other = (stream.add(LiveTable(name, ["x"])) for name in ("one", "other"))
    one.push(1)
    other.push(1)

    assert stream.answer({"type": "resync"})

    told = [(message["type"], message["table"]) for message in browser.messages]
    assert told == [("rows", "one"), ("rows", "other"), ("reset", "one"), ("reset", "other")]


def test_everything_is_sent_again_as_nobody_hears_a_browser_while_a_cell_runs(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: now_s[0])
    now_s = [100.0]
    monkeypatch.setattr("smtc_lab.follow.stream.time", clock)
    stream = Stream(browser.receive)
    stream.add(LiveTable("t", ["x"])).push(1)

    told = []
    for now_s[0] in (100.0, 101.9, 102.0, 103.9, 104.0, 107.9, 108.0):
        stream.flush()
        told.append([message["type"] for message in browser.messages])
        browser.messages.clear()

    assert told == [["rows"], [], ["reset"], [], ["reset"], [], ["reset"]]


def test_a_browser_may_ask_for_one_table(browser: Browser) -> None:
    stream = Stream(browser.receive)
    for name in ("one", "other"):
        stream.add(LiveTable(name, ["x"]))

    stream.answer({"type": "resync", "table": "other"})

    assert [message["table"] for message in browser.messages] == ["other"]


@pytest.mark.parametrize("message", [{}, {"type": "stop"}, {"type": ["resync"]}])
def test_other_messages_are_left_to_others(browser: Browser, message: dict[str, Any]) -> None:
    assert not Stream(browser.receive).answer(message)
    assert browser.messages == []


def test_a_table_that_is_not_there_is_not_sent(browser: Browser) -> None:
    stream = Stream(browser.receive)
    stream.add(LiveTable("t", ["x"]))

    assert stream.answer({"type": "resync", "table": ["t"]})
    assert browser.messages == []


def test_old_rows_are_read_where_somebody_keeps_them(browser: Browser) -> None:
    asked = []

    def read(*request: object) -> Frame:
        asked.append(request)
        rows = np.zeros((1, 2))
        return Frame(type="part", table="t", columns=["x"], first=3, rows=rows)

    stream = Stream(browser.receive, read=read)
    stream.add(LiveTable("t", ["x"]))
    request = {"type": "read", "table": "t", "first": 3, "end": 5, "most": 2}

    assert stream.answer(request)
    assert asked == [("t", 3, 5, 2)]
    assert [message["type"] for message in browser.messages] == ["part"]
    for wrong in (
        {"table": "other"},
        {"table": ["t"]},
        {"first": -1},
        {"first": 5},
        {"end": "5"},
        {"most": 0},
        {"most": None},
    ):
        assert stream.answer(request | wrong)
    assert len(asked) == 1


def test_nobody_may_keep_old_rows(browser: Browser) -> None:
    stream = Stream(browser.receive)
    stream.add(LiveTable("t", ["x"]))

    assert stream.answer({"type": "read", "table": "t", "first": 0, "end": 1, "most": 1})
    assert browser.messages == []


def test_what_is_left_is_sent_at_the_end(browser: Browser) -> None:
    stream = Stream(browser.receive)
    stream.add(LiveTable("t", ["x"])).push(1)
    stream.close()
    stream.close()

    assert browser.num_rows == 1


def test_a_front_end_that_fails_once_gets_the_next_rows(
    browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    failed = threading.Event()

    def send(content: dict[str, Any], buffers: list[bytes]) -> None:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("no socket")
        browser.receive(content, buffers)

    stream = Stream(send)
    table = stream.add(LiveTable("t", ["x"]))
    table.push(1)
    stream.notify()
    assert failed.wait(PATIENCE_S)
    table.push(2)
    stream.notify()

    browser.wait_for_rows(2)
    stream.close()
    assert "no socket" in caplog.text


def test_who_joins_gets_everything_once_and_then_what_is_new(browser: Browser) -> None:
    stream, late = Stream(None), Browser()
    table = stream.add(LiveTable("t", ["x"]))
    stream.join(browser.receive)
    table.push(1)
    stream.flush()
    table.push(2)

    stream.join(late.receive)
    table.push(3)
    stream.flush()

    assert [message["type"] for message in browser.messages] == [
        "reset",
        "rows",
        "rows",
        "rows",
    ]
    assert [(message["type"], message["first"]) for message in late.messages] == [
        ("reset", 0),
        ("rows", 2),
    ]
    assert browser.num_rows == late.num_rows == 3


def test_who_left_is_sent_nothing_and_the_others_go_on(browser: Browser) -> None:
    stream, other = Stream(None), Browser()
    table = stream.add(LiveTable("t", ["x"]))
    for listener in (browser, other):
        stream.join(listener.receive)
    stream.leave(browser.receive)
    browser.messages.clear()
    table.push(1)
    stream.flush()

    assert browser.messages == []
    assert other.num_rows == 1


def test_who_asks_is_answered_alone(browser: Browser) -> None:
    stream, other = Stream(None), Browser()
    stream.add(LiveTable("t", ["x"])).push(1)
    for listener in (browser, other):
        stream.join(listener.receive)
        listener.messages.clear()

    stream.answer({"type": "resync"}, to=other.receive)

    assert browser.messages == []
    assert [message["type"] for message in other.messages] == ["reset"]


def test_those_who_lose_nothing_are_sent_nothing_twice(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    clock = SimpleNamespace(monotonic=lambda: now_s[0])
    monkeypatch.setattr("smtc_lab.follow.stream.time", clock)
    stream = Stream(None)
    stream.add(LiveTable("t", ["x"])).push(1)
    stream.join(browser.receive)
    browser.messages.clear()

    for now_s[0] in (102.0, 104.0, 108.0, 200.0):
        stream.flush()

    assert browser.messages == []
