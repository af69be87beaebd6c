"""What is stored is read without trust: its texts, its numbers, its depth, its version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import NewerSchemaError
from smtc_lab.machine.stored_text import (
    neutral,
    neutral_json,
    parsed_json,
    stored_json,
    text_of,
    time_of,
    whole_of,
)

if TYPE_CHECKING:
    from pathlib import Path

DEEP = 200_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3.1\u00d7 faster\n\tby far", "3.1\u00d7 faster\n\tby far"),
        ("\u202e3.1\u00d7", "\ufffd3.1\u00d7"),
        ("\x1b[2J\x07\r", "\ufffd[2J\ufffd\ufffd"),
        ("a\u2066b\u2069\u200f", "a\ufffdb\ufffd\ufffd"),
        ("\ud800", "\ufffd"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    ],
)
def test_what_a_reader_would_obey_is_replaced(text: str, shown: str) -> None:
    assert neutral(text) == shown


@given(st.text(), st.integers(1, 50))
def test_a_text_is_cut_visibly(text: str, longest: int) -> None:
    told = neutral(text, longest=longest)

    assert len(told) <= longest
    assert (told == neutral(text)) or told.endswith("…")


@pytest.mark.parametrize(
    "text", [b"[" * DEEP, b'{"a":' * DEEP, b"[" * 900 + b"]" * 900, b"[" * 110 + b"]" * 110]
)
def test_json_that_is_nested_deep_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"nested more than 100 levels|no JSON from"):
        neutral_json(parsed_json(text))


@pytest.mark.parametrize(
    "text", [b"secret", b'{"secret": secret}', b"\xffsecret", b"9" * 9_000]
)
def test_an_error_does_not_quote_the_file(text: bytes) -> None:
    with pytest.raises(ValueError, match="it is") as caught:
        parsed_json(text)

    assert "secret" not in f"{caught.value!r} {caught.value.__context__.__suppress_context__}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ["[]", "null", "7", '"text"', ""])
def test_only_objects_are_stored(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)

    with pytest.raises(ValueError, match="it is no JSON"):
        stored_json(tmp_path, "state.json")


def test_names_and_texts_of_an_object_are_neutral(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"\u202ea": ["\u202eb", {"c": "\x1b"}]}))

    assert stored_json(tmp_path, "plan.json") == {"\ufffda": ["\ufffdb", {"c": "\ufffd"}]}


def test_a_later_schema_names_its_number_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"schema_version": 12}')

    with pytest.raises(NewerSchemaError, match=r"written by a newer smtc_lab \(schema 12\)"):
        stored_json(tmp_path, "state.json")
    assert stored_json(tmp_path, "state.json", newest=12) == {}


@pytest.mark.parametrize("value", [-1, 1e308, float("inf"), float("nan"), True, "1", [], 1e12])
def test_a_time_is_one_that_a_calendar_has(value: Any) -> None:
    with pytest.raises(ValueError, match="its at_s is no time in seconds since 1970"):
        time_of({"at_s": value}, "at_s")


@pytest.mark.parametrize("value", [1, 2**31, 2.0, True, "2", [2]])
def test_a_whole_number_has_bounds(value: Any) -> None:
    with pytest.raises(ValueError, match="its pid is no whole number from 2 to 2147483647"):
        whole_of({"pid": value}, "pid", least=2, most=2**31 - 1)


def test_a_text_is_a_text() -> None:
    assert text_of({"reason": "x" * 10}, "reason", longest=4) == "xxx…"
    assert text_of({}, "reason") == ""
    with pytest.raises(ValueError, match="its reason is no text"):
        text_of({"reason": ["secret"]}, "reason")
