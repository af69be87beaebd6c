"""Log streams read as they grow, from answers as CloudWatch gives them."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_sagemaker.aws.cloudwatch import LogStreams


class Logs:
    """CloudWatch's answers. Its pages may be empty though more follow; a token that comes back
    unchanged is the end."""

    def __init__(self, streams: dict[str, list[list[str]]]) -> None:
        self.streams = streams
        self.error = ""

    def get_paginator(self, _: str) -> Logs:
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        if self.error:
            raise ClientError({"Error": {"Code": self.error, "Message": "no"}}, "List")
        return [{"logStreams": [{"logStreamName": name} for name in self.streams]}]

    def get_log_events(self, **given: Any) -> dict[str, Any]:
        pages = self.streams[given["logStreamName"]]
        place = int(given.get("nextToken", "f/0")[2:])
        lines = pages[place] if place < len(pages) else []
        return {
            "events": [{"message": line} for line in lines],
            "nextForwardToken": f"f/{min(place + 1, len(pages))}",
        }


def test_every_line_is_read_once_through_empty_pages_too() -> None:
    logs = Logs({"job/algo-1-1": [["a"], [], ["b", "c"]]})
    streams = LogStreams(logs, "job")

    assert list(streams.look()) == [("job/algo-1-1", ["a"]), ("job/algo-1-1", ["b", "c"])]
    assert list(streams.look()) == []
    logs.streams["job/algo-1-1"].append(["d"])
    assert list(streams.look()) == [("job/algo-1-1", ["d"])]


def test_older_containers_come_first() -> None:
    logs = Logs({"job/algo-1-20": [["new"]], "job/algo-1-9": [["old"]]})

    assert [lines for _, lines in LogStreams(logs, "job").look()] == [["old"], ["new"]]


def test_an_event_of_several_lines_is_several_lines() -> None:
    logs = Logs({"job/algo-1-1": [["a\nb"]]})

    assert list(LogStreams(logs, "job").look()) == [("job/algo-1-1", ["a", "b"])]


def test_an_account_without_any_log_yet_is_no_error() -> None:
    logs = Logs({})
    logs.error = "ResourceNotFoundException"

    assert list(LogStreams(logs, "job").look()) == []


def test_what_was_not_taken_comes_again_after_an_error() -> None:
    logs = Logs({"job/algo-1-1": [["a"]]})
    streams = LogStreams(logs, "job")
    logs.error = "ThrottlingException"
    with pytest.raises(LauncherError, match="ThrottlingException"):
        list(streams.look())
    logs.error = ""

    next(iter(streams.look()))

    assert list(streams.look()) == [("job/algo-1-1", ["a"])]
