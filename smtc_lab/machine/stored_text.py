"""Texts and JSON that somebody may have tampered with, made fit for a terminal and a reader."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import NewerSchemaError, SpecError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.neutral_text import INTEGERS, MOST_DEPTH, neutral, neutral_json

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
"""Version of what smtc_lab writes into the folders of runs and studies."""

SCHEMA_NAME = "schema_version"
"""What a file calls the version that it has."""

LONGEST_TEXT = 4_000
"""Characters of a reason, or of another text for people, that are read."""

_DRAFT_KEPT_S = 3600.0
_LAST_S = 253_402_300_799.0  # the end of the year 9999
_SUSPECT = re.compile(rb'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]|\\[^"\\/nt]|[0-9]{18}')


def parsed_json(text: str | bytes) -> Any:  # noqa: ANN401  any JSON value
    """Return the value of a JSON text, as it is.

    Raises:
        ValueError: It is no JSON, no UTF-8, or nested too deep; says so without its content.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"it is no JSON from line {error.lineno}, column {error.colno} on"
        ) from None
    except RecursionError:
        raise ValueError(f"it is nested more than {MOST_DEPTH} levels deep") from None
    except ValueError:
        raise ValueError("it is not UTF-8 text, or holds a number that is too long") from None


def stored_json(
    folder: Path, path: Path | str, *, most_bytes: int = MIB, newest: int = SCHEMA
) -> dict[str, Any]:
    """Return the JSON object that a file of a folder holds, its texts neutral.

    Args:
        folder: The folder, which may be anybody's.
        path: The file, below the folder, or from it.
        most_bytes: A longer file is refused.
        newest: Highest version that is read; a file without one has the first.

    Raises:
        NewerSchemaError: A newer smtc_lab wrote it.
        ValueError: It is no JSON object; says so without its content.
        UnsafeFileError: It is no plain file, a link leads to it, or it is too long.
        OSError: It is not there, or may not be read.
    """
    text = read_beneath(folder, path, most_bytes=most_bytes)
    values = parsed_json(text)
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  of a file, not of an argument
    check_schema(values, folder.name, newest=newest)
    values.pop(SCHEMA_NAME, None)
    told: dict[str, Any] = values if _is_harmless(text) else neutral_json(values)
    return told


def _is_harmless(text: bytes) -> bool:
    """Return whether a JSON text shows at once that ``neutral_json`` would change nothing.

    It is plain ASCII without an escape that could be a character to obey, has no number of 18
    digits or more, and too few brackets to be nested too deep.
    """
    return _SUSPECT.search(text) is None and text.count(b"[") + text.count(b"{") <= MOST_DEPTH


def check_schema(values: object, name: str, *, newest: int = SCHEMA) -> None:
    """Refuse what a newer smtc_lab wrote.

    Args:
        values: What it wrote; what is no object has no version.
        name: What it belongs to, for people.
        newest: Highest version that is read.

    Raises:
        NewerSchemaError: Its version is higher.
    """
    found = values.get(SCHEMA_NAME) if isinstance(values, dict) else None
    if isinstance(found, int) and found > newest:
        number = found if found in INTEGERS else "of many digits"
        raise NewerSchemaError(
            f"{name[:80]!r} was written by a newer smtc_lab (schema {number}), and this one "
            f"reads up to schema {newest}. Install the version that wrote it, or a newer one."
        )


def misfits(error: Exception) -> str:
    """Return why something stored cannot be read, without its content; pydantic quotes it."""
    if isinstance(error, SpecError):
        return f"{len(error.problems)} of its values are not those of a job"
    if callable(count := getattr(error, "error_count", None)):
        return f"{count()} of its values do not fit"
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def text_of(values: dict[str, Any], name: str, *, longest: int = LONGEST_TEXT) -> str:
    """Take a text for people out of a JSON object, cut; empty: it is not there.

    Raises:
        ValueError: It is no text.
    """
    value = values.pop(name, "")
    if not isinstance(value, str):
        raise ValueError(f"its {name} is no text")  # noqa: TRY004  of a file, as above
    return neutral(value, longest=longest)


def time_of(values: dict[str, Any], name: str) -> float | None:
    """Take a time in seconds since the epoch out of a JSON object; None: it is not there.

    Raises:
        ValueError: It is no time before the year 10000.
    """
    value = values.pop(name, None)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and math.isfinite(value) and 0 <= value <= _LAST_S):
        raise ValueError(f"its {name} is no time in seconds since 1970")
    return float(value)


def whole_of(values: dict[str, Any], name: str, *, least: int, most: int = 2**53) -> int | None:
    """Take a whole number out of a JSON object; None: it is not there.

    Raises:
        ValueError: It is no whole number, or lies outside its bounds.
    """
    value = values.pop(name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"its {name} is no whole number from {least} to {most}")
    return value


def settle(path: Path, *, drafts: str) -> None:
    """Let the name of a new file outlive the machine, and remove what killed processes left.

    Args:
        path: The file.
        drafts: Pattern of the names of its drafts; nobody writes one for an hour.

    Raises:
        OSError: The folder cannot be written to the disk.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # a file system without it
            raise
    finally:
        os.close(folder)
    for left in path.parent.glob(drafts):
        with suppress(OSError):  # somebody else removes it, too
            if path.stat().st_mtime - left.stat().st_mtime > _DRAFT_KEPT_S:
                left.unlink()
