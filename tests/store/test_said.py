"""Lines that scripts printed, as reasons show them."""

from __future__ import annotations

import io

import pytest

from smtc_lab.store.said import last_lines, lines_sentence, readable, without_secrets


def lines_of(text: str, **environment: str) -> list[str]:
    return last_lines(io.BytesIO(text.encode()), environment)


def test_the_last_lines_are_those_that_say_something() -> None:
    said = lines_of("".join(f"line {n}\n\n" for n in range(9)) + "  \n")

    assert said == [f"line {n}" for n in range(4, 9)]
    assert (
        lines_sentence(said[:2], "of its log") == "The last lines of its log:\nline 4\nline 5"
    )
    assert lines_sentence([], "of its log") == ""


def test_a_stack_that_was_asked_for_hides_nothing() -> None:
    stack = (
        "Current thread 0x00007f9a (most recent call first):\n"
        '  File "/code/train.py", line 26 in main\n  File "<frozen runpy>", line 88 in run\n'
    )

    assert lines_of(f"epoch 1\n{stack}") == ["epoch 1"]


def test_many_long_lines_leave_the_end_whole() -> None:
    said = lines_of("\n".join(["a" * 400, "b" * 400, "c" * 400, "the end"]))

    assert said == ["b" * 300, "c" * 300, "the end"]


def test_a_line_that_rewrites_itself_counts_by_what_stood_there_last() -> None:
    assert lines_of("begun\n10%\r20%\r30%\x1b[A\n")[-1] == "30%"


def test_what_a_terminal_would_obey_is_gone() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07 tab\there\x00\u202e"

    assert readable(text) == "red  tab here\ufffd\ufffd"


def test_a_secret_of_the_environment_is_hidden() -> None:
    assert lines_of("my-1234567 is wrong\n", MY_TOKEN="my-1234567") == ["*** is wrong"]  # noqa: S106  no real one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--hf-token abc --lr 1", "--hf-token *** --lr 1"),
        ("error: API_KEY=abc is refused", "error: API_KEY=*** is refused"),
        ('{"secret": "abc", "lr": 1}', '{"secret": *** "lr": 1}'),
        ("max_tokens is too large", "max_tokens is too large"),
        ("the tokenizer: not found", "the tokenizer: not found"),
        ("it was pass-word-7, was it", "it was ***, was it"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, told: str) -> None:
    assert without_secrets(text, {"MY_SECRET": "pass-word-7", "HOME": "error"}) == told
