"""The source of a run, as it was when the run was launched."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.machine.stored_text import stored_json
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.store.run_folder import RunFolder

FILE, ARCHIVE = "source.json", "source.zip"
"""Names of what is kept in the folder of a run: what it is, and its texts."""

MOST_FILES = 300
"""Files that are kept, at most."""

MOST_FILE_BYTES = MIB // 4
"""Size of one, at most."""

MOST_BYTES = 4 * MIB
"""Size of all together, at most."""


class RecordedSource(Result):
    """What an entry point was made of; ``source.json``."""

    script: str
    """Path of the entry point from its folder: its name."""

    files: dict[str, str]
    """SHA-256 of each file that is kept, as hexadecimal text, by its path from that folder."""

    left_out: str = ""
    """What is not kept, and why, in a sentence; empty: all code beside the script is."""

    commit: str = ""
    """Commit of the git repository that the script lies in; empty: it lies in none."""

    branch: str = ""
    """Branch of it; empty: none, or not known."""

    is_changed: bool | None = None
    """Whether tracked files differed from that commit; None: not known."""


def read_source(folder: RunFolder) -> RecordedSource | None:
    """Return what was kept; None: nothing was, or it cannot be read."""
    try:
        return RecordedSource.model_validate(stored_json(folder.path, folder.path / FILE))
    except (OSError, ValueError, StoreError):
        return None


def source_contents(folder: RunFolder, names: Iterable[str]) -> dict[str, bytes]:
    """Return what kept files hold. One that cannot be read is left out.

    Args:
        folder: The run, which may be anybody's.
        names: Paths, as ``RecordedSource.files`` has them.
    """
    try:
        packed = read_beneath(folder.path, folder.path / ARCHIVE, most_bytes=2 * MOST_BYTES)
        archive = zipfile.ZipFile(io.BytesIO(packed))
    except (OSError, ValueError, StoreError, zipfile.BadZipFile):
        return {}
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for name in names:
        try:
            with archive.open(name) as file:
                content = file.read(min(left, MOST_FILE_BYTES) + 1)
        except (KeyError, OSError, ValueError, RuntimeError, zipfile.BadZipFile, EOFError):
            continue
        left -= len(content)
        if left >= 0 and len(content) <= MOST_FILE_BYTES:
            found[name] = content
    return found
