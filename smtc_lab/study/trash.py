"""Deletes runs and studies in two steps, so that a view can undo the first one.

A deletion moves folders into ``.trash`` beside the others, below a name of its own: each stays
on its disk, and is out of every list at once. Undone, they move back. They are gone for good
when somebody says so, or a day later. What goes on, or may, is never moved.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.store.run_folder import RunFolder, runs_root
from smtc_lab.store.state import current_state, is_in_good_hands
from smtc_lab.study.folder import (
    StudyFolder,
    read_process,
    read_request,
    read_study_state,
    studies_root,
)
from smtc_lab.study.launch_name import stamp_words
from smtc_lab.study.watched_run import STUDY

KEPT_S = 24 * 3600.0
"""How long a deletion can be undone, in seconds."""

_COMING_UP_S = 10.0
"""How long it may take until a new study's folder names its process."""

_TRASH = ".trash"
_ID = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"(?=.{1,63}$)[A-Za-z0-9](-*[A-Za-z0-9])*")


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What was deleted, and can be put back."""

    id: str
    """Name of the deletion, 16 hexadecimal digits."""

    name: str
    """The run or the study."""

    launches: tuple[str, ...] = ()
    """Runs that were deleted with it: the launches of a study."""


def delete_run(name: str, root: Path | None = None) -> Deletion:
    """Delete a run, so that it can be put back.

    Args:
        name: Its whole name.
        root: Folder of runs; None: the default one.

    Raises:
        StoreError: There is no such run, or it cannot be moved.
        LauncherError: It goes on, or is a launch of a study.
    """
    root = runs_root(root)
    folder = run_folder(name, root)
    if _run_lives(folder):
        raise LauncherError(f"Run {name!r} still goes on, so it is not deleted. Stop it first.")
    study = _study_of(folder)
    if study is not None and _takes_along(StudyFolder(studies_root(root) / study), name):
        raise LauncherError(
            f"Delete {study!r}, which takes all its launches along. Run {name!r} is a launch "
            f"of {study!r}, whose numbers are made of it."
        )
    return _moved(name, [folder.path])


def run_folder(name: str, root: Path | None = None) -> RunFolder:
    """Return the folder of a run that can be deleted, if it has ended.

    Raises:
        StoreError: There is none of that whole name.
    """
    root = runs_root(root)
    return RunFolder(_inside(root, name, "job.json", "run"))


def delete_study(name: str, root: Path | None = None) -> Deletion:
    """Delete a study with its launches, so that they can be put back.

    Args:
        name: Its whole name.
        root: Folder of runs, beside which studies lie; None: the default one.

    Raises:
        StoreError: There is no such study, or a folder cannot be moved.
        LauncherError: It goes on, or one of its launches does.
    """
    root = runs_root(root)
    folder = StudyFolder(_inside(studies_root(root), name, "request.json", "comparison"))
    launches = _launches(folder, root)
    if _study_lives(folder) or any(map(_run_lives, launches)):
        raise LauncherError(f"{name!r} still goes on, so it is not deleted. Stop it first.")
    return _moved(name, [folder.path, *(launch.path for launch in launches)])


def put_back(deletion_id: str, root: Path | None = None) -> Deletion:
    """Undo a deletion.

    Raises:
        StoreError: There is no such deletion any more, or a name of it is taken.
    """
    root = runs_root(root)
    found = [] if not _ID.fullmatch(deletion_id) else _kept(deletion_id, root)
    if not found:
        raise StoreError(
            f"The deletion {deletion_id[:80]!r} cannot be undone: it was undone before, or "
            "its files are gone for good."
        )
    taken = [path.name for path in found if _home_of(path).exists()]
    if taken:
        raise StoreError(
            f"The deletion of {taken[0]!r} cannot be undone: another run has that name now. "
            "Rename or delete it first."
        )
    for path in reversed(found):
        try:
            path.rename(_home_of(path))
        except OSError as error:
            raise _unmoved(path, error) from error
    for folder in {path.parent for path in found}:
        with contextlib.suppress(OSError):
            folder.rmdir()
    study, *launches = (path.name for path in found)
    return Deletion(id=deletion_id, name=study, launches=tuple(launches))


def empty_trash(
    root: Path | None = None, *, only: str | None = None, older_than_s: float = KEPT_S
) -> None:
    """Remove deletions for good. What cannot be removed stays.

    An empty trash stays, too: another process may be about to move something there.

    Args:
        root: Folder of runs; None: the default one.
        only: This deletion, however old it is; None: all that are old enough.
        older_than_s: How old that is, in seconds.
    """
    root = runs_root(root)
    for trash in (studies_root(root) / _TRASH, root / _TRASH):
        with contextlib.suppress(OSError):
            for folder in list(trash.iterdir()):
                age_s = time.time() - folder.lstat().st_mtime
                if folder.name == only or (only is None and age_s >= older_than_s):
                    _remove(folder)


def _inside(root: Path, name: str, marker: str, what: str) -> Path:
    """Return the folder of a name, which must be itself and no link to another place."""
    path = root / name
    if not _NAME.fullmatch(name) or path.is_symlink() or not (path / marker).is_file():
        raise StoreError(
            f"There is no {what} named {name[:80]!r} in {str(root)!r}, so nothing is deleted. "
            "Run 'smtc-lab runs' for the names that there are."
        )
    return path


def _run_lives(folder: RunFolder) -> bool:
    try:
        state = current_state(folder)
    except StoreError:  # damaged, so the lock is what tells
        return is_in_good_hands(folder)
    if state.supervisor_pid is None and not state.is_terminal:  # it never began
        return is_in_good_hands(folder)
    return not state.is_terminal


def _study_lives(folder: StudyFolder) -> bool:
    process = read_process(folder)
    try:
        if read_study_state(folder).is_terminal:
            return False
    except StoreError:  # damaged, so its process is what tells
        pass
    if process is None:  # it never began, or is about to
        return time.time() - folder.path.stat().st_mtime < _COMING_UP_S
    return process.is_alive


def _launches(folder: StudyFolder, root: Path) -> list[RunFolder]:
    """Return the launches of a study that lie where runs lie.

    A study's folder may be somebody else's, and name any run: only those that say so
    themselves, or of an earlier version have its moment in their names, are launches of it.
    """
    try:
        stamp = f"-{stamp_words(read_request(folder).created)}"
        names = dict.fromkeys(run.job_name for run in read_study_state(folder).runs)
    except StoreError:
        return []
    found = [RunFolder(root / name) for name in names if _NAME.fullmatch(name)]
    return [
        run
        for run in found
        if run.job_file.is_file() and not run.path.is_symlink()
        if _study_of(run) == folder.name
        or (_study_of(run) is None and run.job_name.endswith(stamp))
    ]


def _takes_along(study: StudyFolder, name: str) -> bool:
    """Return whether a study is here, and a run of this name, no copy of one, is its launch."""
    if not study.request_file.is_file():
        return False
    try:
        return name in {run.job_name for run in read_study_state(study).runs}
    except StoreError:  # damaged, so the run's own word is what tells
        return True


def _study_of(folder: RunFolder) -> str | None:
    """Return the study that a run says it is a launch of; None: it does not say."""
    facts = read_plan(folder).get("facts")
    study = facts.get(STUDY) if isinstance(facts, dict) else None
    return study if isinstance(study, str) and _NAME.fullmatch(study) else None


def _moved(name: str, paths: list[Path]) -> Deletion:
    """Move folders away, the first one of them first."""
    deletion_id = secrets.token_hex(8)
    for place, path in enumerate(paths):
        target = path.parent / _TRASH / deletion_id / path.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.rename(target)
        except OSError as error:
            for moved in paths[:place]:
                (moved.parent / _TRASH / deletion_id / moved.name).rename(moved)
            raise _unmoved(path, error) from error
    launches = tuple(path.name for path in paths[1:])
    return Deletion(id=deletion_id, name=name, launches=launches)


def _kept(deletion_id: str, root: Path) -> list[Path]:
    """Return the folders of a deletion, that of a study first."""
    trashes = (studies_root(root) / _TRASH, root / _TRASH)
    return [path for trash in trashes for path in sorted((trash / deletion_id).glob("*"))]


def _home_of(path: Path) -> Path:
    return path.parents[2] / path.name


def _unmoved(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"The folder {str(path)!r} cannot be moved: {error.strerror}. Give yourself the right "
        "to write there, and try again."
    )


def _remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also what a script has write-protected.

    Links are taken away, and what they lead to stays.
    """
    if folder.is_symlink():
        return
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            Path(path).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
