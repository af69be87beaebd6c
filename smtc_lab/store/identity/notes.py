"""What people say of a run beside its job: experiment, parameters, files, title, tags, note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import MIB
from smtc_lab.machine.stored_text import stored_json
from smtc_lab.metrics.result import Result
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.store.run_folder import RunFolder

FILE = "notes.json"
"""Name of the file in the folder of a run."""

MOST = 1_000
"""Parameters, and files, of a run, at most."""

LONGEST_NAME = 250
"""Characters of a name, at most."""

LONGEST_NOTE = 4_000
"""Characters of a note, or of the value of a parameter, at most."""

MOST_TAGS = 50
"""Tags of a run, at most."""

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, Field(max_length=LONGEST_NOTE)]
Parameter = Text | bool | int | float
"""Value of a parameter."""


class RunNotes(Result):
    """What is said of a run; ``notes.json``."""

    experiment: Annotated[str, Field(max_length=LONGEST_NAME)] = ""
    """The experiment that it belongs to; empty: none."""

    parameters: Annotated[dict[Name, Parameter], Field(max_length=MOST)] = {}  # noqa: RUF012  pydantic copies it
    """What its script logged as parameters."""

    artifacts: Annotated[dict[Name, Text], Field(max_length=MOST)] = {}  # noqa: RUF012  as above
    """Files and places by name: a path from the folder of the run, or whatever was given."""

    title: Annotated[str, Field(max_length=LONGEST_NAME)] = ""
    """What tables call it; empty: its name. The name of its folder never changes."""

    tags: Annotated[tuple[Name, ...], Field(max_length=MOST_TAGS)] = ()
    """Words to find it by."""

    note: Text = ""
    """What somebody wrote about it."""


def read_notes(folder: RunFolder) -> RunNotes:
    """Return what is said of a run; what cannot be read counts as nothing."""
    try:
        values = stored_json(folder.path, folder.path / FILE, most_bytes=8 * MIB)
        return RunNotes.model_validate(values)
    except (OSError, ValueError, StoreError):
        return RunNotes()


def write_notes(folder: RunFolder, notes: RunNotes) -> None:
    """Write what is said of a run.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        replace_file(folder.path / FILE, notes.model_dump_json(indent=1))
    except OSError as error:
        raise StoreError(
            f"The notes of run {folder.job_name!r} cannot be written ({error.strerror}). Free "
            "space, or give yourself the right to write to its folder."
        ) from error


def changed_notes(
    folder: RunFolder,
    *,
    tags: tuple[str, ...] | None = None,
    note: str | None = None,
    title: str | None = None,
) -> RunNotes:
    """Return the notes of a run with other tags, note or title; None: they stay.

    Raises:
        StoreError: They are too many or too long.
    """
    said = {"tags": tags, "note": note, "title": title}
    changed = {name: value for name, value in said.items() if value is not None}
    try:
        return RunNotes.model_validate({**read_notes(folder).model_dump(), **changed})
    except ValueError as error:
        raise StoreError(
            f"A run takes up to {MOST_TAGS} tags of 1 to {LONGEST_NAME} characters, a title of "
            f"{LONGEST_NAME}, and a note of {LONGEST_NOTE:,}. Shorten them."
        ) from error
