"""What the files of a study may hold: checked, as its folder may be somebody else's."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.beneath import MIB
from smtc_lab.machine.stored_text import (
    SCHEMA_NAME,
    check_schema,
    parsed_json,
    stored_json,
    text_of,
    time_of,
    whole_of,
)
from smtc_lab.neutral_text import neutral_json
from smtc_lab.store.run_folder import JOB_NAME
from smtc_lab.store.state import state_of

if TYPE_CHECKING:
    from pathlib import Path

_MOST_LAUNCHES = 100_000
_KIND = re.compile(r"(?!(request|process|state)$)[a-z][a-z-]{0,39}")
_MOST_JOBS = 1_000
_LONGEST_LABEL = 200
_STATE_BYTES = 16 * MIB


def find_studies(root: Path) -> list[tuple[float, Path]]:
    """Return the folders of studies with the times at which they were asked for, oldest first.

    Args:
        root: Folder of studies; it may be missing.
    """
    found = []
    with contextlib.suppress(OSError):
        for path in root.iterdir():
            with contextlib.suppress(OSError):  # it is no study, or not this user's
                found.append(((path / "request.json").lstat().st_mtime, path))
    return sorted(found, key=lambda each: (each[0], each[1].name))


def request_values(text: str | bytes) -> tuple[dict[str, Any], list[Any]]:
    """Return the values of a request with neutral texts, and its jobs as they are.

    Raises:
        ValueError: It is no JSON, or its jobs are none.
        TypeError: It is no JSON object.
        KeyError: It has no jobs.
        NewerSchemaError: A newer smtc_lab wrote it.
    """
    values = parsed_json(text)
    if not isinstance(values, dict):
        raise TypeError("it is no JSON object")
    check_schema(values, "This study")
    values.pop(SCHEMA_NAME, None)
    jobs = values.pop("jobs")
    if not (isinstance(jobs, list) and 1 <= len(jobs) <= _MOST_JOBS):
        raise ValueError(f"its jobs are no list of 1 to {_MOST_JOBS}")
    values = neutral_json(values)
    if "kind" in values and not _KIND.fullmatch(str(values["kind"])):  # it names a file
        raise ValueError("its kind is no name of a kind of study")
    rounds = whole_of(values, "rounds", least=0, most=_MOST_LAUNCHES)
    try:
        created = datetime.fromisoformat(values["created"])
    except ValueError:  # which would quote it
        raise ValueError("its created is no date") from None
    if rounds is None:
        raise KeyError("rounds")
    return {**values, "rounds": rounds, "created": created}, jobs


def state_values(folder: Path, path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the fields of a state but for its launches, and those of each launch.

    Args:
        folder: Folder of the study.
        path: Its file of the state.

    Raises:
        ValueError: A value is wrong.
        KeyError: There are no launches.
        NewerSchemaError: A newer smtc_lab wrote it.
        OSError: It is not there, is no plain file, or may not be read.
    """
    values = stored_json(folder, path, most_bytes=_STATE_BYTES)
    runs = values.pop("runs")
    if not (isinstance(runs, list) and len(runs) <= _MOST_LAUNCHES):
        raise ValueError("its runs are no list")
    fields = {
        "state": state_of(values),
        "reason": text_of(values, "reason"),
        "note": text_of(values, "note"),
        "started_s": time_of(values, "started_s"),
        "ended_s": time_of(values, "ended_s"),
        "launches": whole_of(values, "launches", least=0, most=_MOST_LAUNCHES) or 0,
    }
    return fields, list(map(_launch, runs))


def _launch(values: object) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise ValueError("one of its runs is no JSON object")  # noqa: TRY004  as above
    name, found = text_of(values, "job_name"), values.get("found")
    if not JOB_NAME.fullmatch(name):  # it names a folder
        raise ValueError("one of its runs has no name that a run can have")
    if not (found is None or isinstance(found, dict)):
        raise ValueError("what one of its runs found out is no JSON object")
    return {
        "job_name": name,
        "label": text_of(values, "label", longest=_LONGEST_LABEL),
        "round": whole_of(values, "round", least=1, most=_MOST_LAUNCHES),
        "found": found,
    }
