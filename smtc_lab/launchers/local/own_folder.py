"""The working folder that a launch of this machine has of its own, and what is said of it."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.machine.home import STUDIES, WORK, home
from smtc_lab.machine.linked_folder import MOST_LINKED, LinkedFolder, listed
from smtc_lab.metrics.records.records import FILES_CHANGED, FOLDER_LINKED, EventRecord
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder

_ANCESTORS = 3


def own_folder(folder: RunFolder, job: TrainingJob) -> str | None:
    """Return where the entry points of a job will work; None: where it is launched from."""
    if job.working_dir != "own":
        return None
    here = Path.cwd()
    return str(folder.path / WORK / here.relative_to(here.anchor))


class OwnFolder:
    """The working folder of a run, while its supervisor lives.

    Args:
        folder: The run's folder.
        path: What ``own_folder`` returned for it.
    """

    def __init__(self, folder: RunFolder, path: str) -> None:
        work, root = folder.path / WORK, folder.path.parent
        source = Path("/", Path(path).relative_to(work))
        self._folder = folder
        self._linked = LinkedFolder(
            source, work, left_out=(root, root.parent / STUDIES, home())
        )
        self._source = source
        self._problem: OSError | None = None
        self._told = {os.path.relpath(path, source) for path in _printed_to()}
        self._is_made = self._is_open = self._is_told = False
        self._open()

    @classmethod
    def of(cls, folder: RunFolder, plan: Mapping[str, Any]) -> Self | None:
        """Make the one of a run that is about to begin or to go on; None: it has none."""
        told = json.loads(folder.agent_file(plan["instances"][0]["host"]).read_text("utf-8"))
        path = told.get("working_folder")
        return None if path is None else cls(folder, path)

    def _open(self) -> None:
        """Make it, unless that was done since it was closed."""
        if self._is_open:
            return
        self._problem = None
        try:
            self._is_made = self._linked.make()
        except OSError as error:
            self._problem = error
        self._is_open = True

    def begin(self) -> None:
        """Let an attempt begin; say once what of the user's folder is not as it seems.

        Raises:
            LauncherError: It could not be made.
        """
        self._open()
        if self._problem is not None:
            raise LauncherError(
                f"The launch has no working folder of its own: {self._problem}. Free the "
                "place, or launch with working_dir='here' (--working-dir here)."
            ) from self._problem
        if self._is_told:
            return
        self._is_told = True
        if not self._is_made:
            self._say(
                FOLDER_LINKED,
                f"{str(self._source)!r} has more than {MOST_LINKED:,} files, so this launch "
                "works in it, and not in a folder of its own. Start it from a smaller one.",
            )
        if whole := self._linked.whole:
            self._say(
                FOLDER_LINKED,
                f"Folders of {str(self._source)!r} that are linked as a whole, as it has more "
                f"than {MOST_LINKED:,} files, so that what is written there lands in yours: "
                f"{listed(whole)}.",
            )
        if (above := self._linked.unlinked) is not None:
            self._say(
                FOLDER_LINKED,
                f"{above!r} has more than {MOST_LINKED:,} files, so a path with '..' that "
                "leads so far up finds nothing there but the way back.",
            )

    def look(self) -> None:
        """Say which of the user's files were changed since they were linked, each once."""
        changed = [name for name in self._linked.changed() if name not in self._told]
        self._told.update(changed)
        if changed:
            self._say(
                FILES_CHANGED,
                f"The script has changed files of {str(self._source)!r} through their links, "
                f"unless somebody else did so meanwhile: {listed(changed)}. Launches after it "
                "begin with them; take copies, or start it where these files are not.",
            )

    def close(self) -> None:
        """Leave nothing but what is new, until another attempt begins."""
        self._linked.remove_unchanged()
        self._is_open = False

    def _say(self, kind: str, message: str) -> None:
        path = self._folder.records / "working-dir.sqlite"
        said = EventRecord(time_s=time.time(), kind=kind, host="", message=message)
        # of a full disk others tell
        with suppress(StoreError), RecordWriter(path) as writer:
            writer.append(said)


def _printed_to() -> list[str]:
    """Return the files to which those print who launch, ``smtc-lab compare … > log`` say."""
    found, pid = [], os.getppid()
    with suppress(OSError, ValueError):
        for _ in range(_ANCESTORS):
            found += [os.readlink(f"/proc/{pid}/fd/{number}") for number in (1, 2)]  # noqa: PTH115
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            pid = int(text.rpartition(")")[2].split()[1])
    return found
