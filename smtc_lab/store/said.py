"""What a script has said, for reasons and logs: its last lines, readable, without secrets."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, BinaryIO

from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_LINES = 5
_MOST_CHARACTERS = 300
"""Characters that are kept of a line."""
_MOST_IN_ALL = 800
"""Characters of all lines together: SageMaker keeps 1,024 of a reason."""
_TAIL_BYTES = 8192

_COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_PRIVATE = r"token(?!iz|s\b)|secret|passw|credential|api[-_]?key|access[-_]?key|private[-_]?key"
_ASSIGNED = re.compile(
    rf"([\w-]*(?:{_PRIVATE})[\w-]*['\"]?\s*[=:]\s*|--[\w-]*(?:{_PRIVATE})[\w-]*\s+)\S+",
    re.IGNORECASE,
)
_OF_A_STACK = re.compile(
    r"(?:Current thread|Thread) 0x[0-9a-f]+|  File \".*\", line [0-9]+ in "
)
"""Begins a line that Python writes of every frame when it is asked where it is."""

_LEAST = 6
"""Characters of a secret below which it would hide ordinary words."""
_HIDDEN = "***"


def without_colours(text: str) -> str:
    """Return a text without what colours it in a terminal, and moves the cursor there."""
    return _COLOURS.sub("", text)


def as_a_terminal_leaves(line: str) -> str:
    """Return a line without colours, as it is after its last rewriting, with nothing obeyed.

    A progress bar writes itself anew behind each carriage return.
    """
    return neutral(without_colours(line).rstrip("\r").rpartition("\r")[2])


def readable(text: str) -> str:
    """Return the lines of a text without colours, and U+FFFD for what else would be obeyed."""
    lines = (line.replace("\t", " ") for line in without_colours(text).splitlines())
    return "\n".join(
        "".join(char if char.isprintable() else "\ufffd" for char in line) for line in lines
    )


def last_lines(log: BinaryIO, environment: Mapping[str, str]) -> list[str]:
    """Return the last lines of a log that say something, oldest first.

    Stacks that were asked for say where a process is, and nothing of why; they are left out.

    Args:
        log: A file that can be read from any place.
        environment: Variables of who wrote it; those named like a secret are hidden wherever
            they stand.

    Returns:
        At most 5 lines and 800 characters, without colours and secrets.
    """
    log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
    text = readable(log.read(_TAIL_BYTES).decode("utf-8", errors="replace"))
    said: list[str] = []
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    for line in reversed([line for line in lines if not _OF_A_STACK.match(line)]):
        told = without_secrets(line, environment)[:_MOST_CHARACTERS]
        if len(said) == _MOST_LINES or sum(map(len, said)) + len(told) > _MOST_IN_ALL:
            break
        said.insert(0, told)
    return said


def lines_sentence(lines: list[str], whose: str) -> str:
    """Return last lines as the end of a reason; empty where there are none.

    Args:
        lines: What ``last_lines`` returned.
        whose: What they are of: ``of its log``; empty: it is clear.
    """
    if not lines:
        return ""
    of = f" {whose}" if whose else ""
    if len(lines) == 1:
        return f"The last line{of}: {lines[0].strip()}"
    return "\n".join([f"The last lines{of}:", *lines])


def and_then(reason: str, sentence: str) -> str:
    """Return a reason with a sentence behind it; where it ends with lines of a log, below."""
    between = "\n" if "\n" in reason else " "
    return f"{reason}{between}{sentence}"


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return a text in which what looks like a secret is hidden.

    Args:
        text: One line.
        environment: Variables; the values of those named like a secret are hidden too.
    """
    for name, value in environment.items():
        if len(value) >= _LEAST and re.search(_PRIVATE, name, re.IGNORECASE):
            text = text.replace(value, _HIDDEN)
    return _ASSIGNED.sub(rf"\1{_HIDDEN}", text)
