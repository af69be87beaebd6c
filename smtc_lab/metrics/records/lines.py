"""What an instance says in its log for us: ``SMTC {json} <seal>``, one message a line.

Where only a log comes back from an instance (SageMaker's CloudWatch streams), records and
exits travel in it. Each line is sealed with a key of the job, so nothing that a script prints
can pass for one. The JSON stands in the clear, for people and for MetricDefinitions.
"""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PREFIX = "SMTC "
"""What each such line begins with."""

MAX_LINE_BYTES = 15 * 1024
"""Longest line. CloudWatch takes 256 KB, but container runtimes cut lines at 16 KiB."""

_SEAL_CHARACTERS = 32


def line_key(secret: bytes) -> bytes:
    """Return the key of a job's lines; the job's secret itself is for its data service."""
    return hmac.digest(secret, b"smtc_lab record lines", "sha256")


def record_line(key: bytes, content: Mapping[str, Any]) -> str:
    """Return the line that says something.

    Args:
        key: What ``line_key`` returned.
        content: What JSON can hold.

    Raises:
        ValueError: The line would be longer than ``MAX_LINE_BYTES``.
    """
    text = json.dumps(content, separators=(",", ":"))
    line = f"{PREFIX}{text} {_seal(key, text)}"
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(
            f"A record line of {len(line)} bytes is longer than {MAX_LINE_BYTES}. Say it in "
            "several lines."
        )
    return line


def parse_record_line(key: bytes, line: str) -> dict[str, Any] | None:
    """Return what a line says; None: it is not one of ours, whatever it looks like.

    Args:
        key: What ``line_key`` returned.
        line: A line of an instance's log, without its end.
    """
    if not line.startswith(PREFIX):
        return None
    text, _, seal = line[len(PREFIX) :].rstrip().rpartition(" ")
    # only ASCII can be compared in constant time, and a seal is nothing else
    if not seal.isascii() or not hmac.compare_digest(seal, _seal(key, text)):
        return None
    content: dict[str, Any] = json.loads(text)
    return content


def row_lines(
    key: bytes, about: Mapping[str, Any], *, first: int, rows: Sequence[tuple[str, list[Any]]]
) -> Iterator[str]:
    """Return the lines that carry rows of one record file, as few as possible.

    Args:
        key: What ``line_key`` returned.
        about: What every line says beside them: host, file, part.
        first: Number of the first row in its file, from 0.
        rows: Table and values of each, in the file's order.
    """
    begin = 0
    while begin < len(rows):
        table = rows[begin][0]
        end = begin
        left_bytes = MAX_LINE_BYTES - 1024 - len(json.dumps(about))
        while end < len(rows) and rows[end][0] == table:
            left_bytes -= len(json.dumps(rows[end][1])) + 1
            if left_bytes < 0:
                break
            end += 1
        end = max(end, begin + 1)
        values = [row for _, row in rows[begin:end]]
        content = {**about, "first": first + begin, "table": table, "rows": values}
        if table == "step_record":
            content |= _means(values)
        try:
            yield record_line(key, content)
        except ValueError:  # one row alone is too long: a text, of which the begin must do
            yield record_line(key, {**content, "rows": [_shortened(values[0])]})
        begin = end


def _means(steps: list[list[Any]]) -> dict[str, float]:
    """Return means over steps, given as the values of ``StepRecord`` in order."""
    count = len(steps)
    time_s = sum(step[2] for step in steps)
    means = {"step_time_s": time_s / count, "data_wait_s": sum(s[3] for s in steps) / count}
    samples = [step[5] for step in steps]
    if time_s > 0 and None not in samples:
        means["samples_per_s"] = sum(samples) / time_s
    return means


def _shortened(row: list[Any]) -> list[Any]:
    return [value[:2000] if isinstance(value, str) else value for value in row]


def _seal(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode("utf-8", errors="surrogatepass"), "sha256")
    return digest.hex()[:_SEAL_CHARACTERS]
