from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest

from smtc_lab.follow.stream import Stream
from smtc_lab.follow.table import LiveTable
from smtc_lab.views.server.outbox import Outbox, Watching
from smtc_lab.views.server.wire import binary_message, json_text
from tests.kit.lab_tab import parse_binary


class Numbers:
    """A topic with one value and one table, which tests push to."""

    def __init__(self, name: str = "numbers") -> None:
        self.value = 0
        self.stream = Stream(None)
        self.table = self.stream.add(LiveTable(name, ["x"]))
        self.asked: list[dict[str, Any]] = []

    def join(self, listener: Any) -> None:
        listener.on_topic(self)
        listener.on_news()
        self.stream.join(listener.on_message)

    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        return ({"value": self.value} if seen <= self.value else {}), self.value + 1

    def receive(self, content: dict[str, Any], listener: Any) -> None:
        self.asked.append(content)
        self.stream.answer(content, to=listener.on_message)

    def push(self, *values: float) -> None:
        for value in values:
            self.table.push(value)
        self.stream.flush()


class Page:
    """Takes from an outbox, as slowly as a test likes."""

    def __init__(self, most_bytes: int = 1000) -> None:
        self.woken = 0
        self.outbox = Outbox(self._wake, most_bytes=most_bytes)
        self.told: list[dict[str, Any]] = []
        self.rows: dict[str, list[float]] = {}
        self.kinds: list[str] = []

    def _wake(self) -> None:
        self.woken += 1

    def watch(self, topic: Any, number: int = 1) -> Watching:
        watching = Watching(number, self.outbox)
        topic.join(watching)
        return watching

    def take_all(self) -> None:
        while True:
            message = self.outbox.take()
            if isinstance(message, bytes):
                _, content, buffers = parse_binary(message)
                rows = self.rows.setdefault(content["table"], [])
                self.kinds.append(content["type"])
                if content["type"] == "reset":
                    rows.clear()
                else:
                    assert content["first"] == len(rows)  # nothing is missing or twice
                rows += np.frombuffer(buffers[0]).tolist()
            elif message is not None:
                self.told.append(json.loads(message))
            elif self.outbox.is_missing:
                self.outbox.ask_for_missing()
            else:
                return


def test_values_come_before_rows_and_only_as_they_are_now() -> None:
    page, topic = Page(), Numbers()
    watching = page.watch(topic)
    for topic.value in (1, 2, 3):
        watching.on_news()
    topic.push(1)

    page.take_all()

    assert page.told == [{"type": "set", "id": 1, "values": {"value": 3}}]
    assert page.rows == {"numbers": [1]}


def test_a_reader_is_woken_once_for_all_that_waits() -> None:
    page, topic = Page(), Numbers()
    page.watch(topic)
    topic.push(1)
    topic.push(2)
    assert page.woken == 1

    page.take_all()
    topic.push(3)

    assert page.woken == 2


def test_what_is_too_much_is_dropped_and_comes_as_a_whole_when_the_rest_was_taken() -> None:
    page, topic = Page(most_bytes=80), Numbers()
    page.watch(topic)
    for value in range(100):
        topic.push(value)
    assert page.outbox._num_bytes <= 80

    page.take_all()

    assert page.rows == {"numbers": list(range(100))}
    assert page.kinds == ["reset", "reset"]  # when it joined, and now
    assert topic.asked == [{"type": "resync", "table": "numbers"}]
    topic.push(100)
    page.take_all()
    assert page.rows["numbers"][-1] == 100
    assert page.kinds == ["reset", "reset", "rows"]


def test_a_table_that_is_dropped_leaves_others_alone() -> None:
    page, large, small = Page(most_bytes=80), Numbers("large"), Numbers("small")
    page.watch(large, 1)
    page.watch(small, 2)
    small.push(7)
    for value in range(20):
        large.push(value)

    page.take_all()

    assert page.rows == {"small": [7], "large": list(range(20))}
    assert small.asked == []


def test_one_message_that_is_larger_than_the_limit_is_sent() -> None:
    page, topic = Page(most_bytes=80), Numbers()
    topic.push(*range(100))

    page.watch(topic)
    page.take_all()

    assert page.rows == {"numbers": list(range(100))}


def test_a_whole_table_replaces_its_rows_that_wait() -> None:
    page, topic = Page(), Numbers()
    watching = page.watch(topic)
    topic.push(1)
    topic.stream.answer({"type": "resync"}, to=watching.on_message)

    page.take_all()

    assert page.kinds == ["reset"]
    assert page.rows == {"numbers": [1]}


def test_rows_that_come_while_a_dropped_table_is_fetched_are_not_sent_twice() -> None:
    page, topic = Page(most_bytes=80), Numbers()
    page.watch(topic)
    for value in range(20):
        topic.push(value)
    answer = topic.receive

    def answer_late(content: dict[str, Any], listener: Any) -> None:
        topic.receive = answer  # type: ignore[method-assign]
        topic.push(20)
        answer(content, listener)
        topic.push(21)

    topic.receive = answer_late  # type: ignore[method-assign]
    page.take_all()

    assert page.rows == {"numbers": list(range(22))}


def test_a_part_that_is_too_much_is_left_out_and_the_table_is_not_missing() -> None:
    page, topic = Page(most_bytes=80), Numbers()
    watching = page.watch(topic)
    topic.push(1)
    part = {"type": "part", "table": "numbers", "columns": ["x"], "first": 0}
    watching.on_message(part, [bytes(800)])

    page.take_all()

    assert page.kinds == ["reset", "rows"]
    assert topic.asked == []


def test_nothing_is_sent_of_a_watch_that_ended() -> None:
    page, topic = Page(most_bytes=80), Numbers()
    watching = page.watch(topic)
    for value in range(20):
        topic.push(value)
    topic.stream.leave(watching.on_message)
    page.outbox.forget(watching)

    page.take_all()

    assert page.told == []
    assert page.rows == {}
    assert topic.asked == []


def test_threads_that_push_while_a_page_takes_lose_nothing() -> None:
    page, topics = Page(most_bytes=200), [Numbers(str(number)) for number in range(4)]
    for number, topic in enumerate(topics):
        page.watch(topic, number)
    threads = [
        threading.Thread(target=lambda topic=topic: [topic.push(n) for n in range(300)])
        for topic in topics
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        page.take_all()
    page.take_all()

    assert page.rows == {str(number): list(range(300)) for number in range(4)}


def test_a_binary_message_is_aligned_for_a_browsers_arrays() -> None:
    buffers = [np.arange(3.0).tobytes(), b"", b"abc"]

    message = binary_message(5, {"type": "rows", "table": "ä"}, buffers)

    assert len(message) % 8 == 0
    assert message.index(buffers[0]) % 8 == 0
    assert parse_binary(message) == (5, {"type": "rows", "table": "ä"}, buffers)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_does_not_know_is_null(value: float) -> None:
    assert json_text({"a": [value, 1.5], "b": (value,)}) == '{"a": [null, 1.5], "b": [null]}'
