"""Keeps the source of a run with it, and gives it back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError, UnsafeFileError
from smtc_lab.launchers.source_archive import files_below
from smtc_lab.machine.beneath import read_beneath
from smtc_lab.store.identity.source import (
    ARCHIVE,
    FILE,
    MOST_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    RecordedSource,
    read_source,
    source_contents,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.store.run_folder import RunFolder

UNPACKED = ".sources"
"""Folder of sources that were given back, in a folder of runs; one for each content."""

_KEPT = frozenset({".py", ".json", ".toml", ".yaml", ".yml", ".cfg", ".ini"})
_MOST_LOOKED = 5_000
_GIT_S = 0.5


def keep_source(folder: RunFolder, entry_point: str) -> None:
    """Keep the code beside an entry point in the folder of its run.

    Python files and settings of its folder and below, as far as they are few and small; of
    more, the script alone. Of a git repository the commit, and whether files differ from it.
    What cannot be read, or written, is not kept; a run does not fail for it.

    Args:
        folder: The run.
        entry_point: Path of the script.
    """
    script = Path(entry_point).resolve()
    files, left_out = _code_beside(script)
    contents: dict[str, bytes] = {}
    for path in files:
        with contextlib.suppress(OSError):
            contents[path.relative_to(script.parent).as_posix()] = path.read_bytes()
    source = RecordedSource(
        script=script.name,
        files={name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        left_out=left_out,
        **_git(script.parent),
    )
    with contextlib.suppress(OSError):
        with zipfile.ZipFile(
            _private(folder.path / ARCHIVE), "w", zipfile.ZIP_DEFLATED
        ) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        _private(folder.path / FILE).write_text(source.model_dump_json(indent=1), "utf-8")


def given_back(folder: RunFolder, entry_point: str) -> str:
    """Return the path of an entry point as it was when a run was launched.

    Where its folder holds the same code today, that is where it was; else it is unpacked
    beside the runs.

    Raises:
        LauncherError: Its source was not kept, or is damaged.
    """
    source = read_source(folder)
    if source is None or source.script not in source.files:
        raise LauncherError(
            f"The source of run {folder.job_name!r} was not kept, so it cannot be run again as "
            "it was. Launch its script as it is today: lab.launch(run.clone())."
        )
    beside = Path(entry_point).resolve().parent
    if all(_digest(beside, name) == digest for name, digest in source.files.items()):
        return entry_point
    contents = source_contents(folder, source.files)
    found = {name: hashlib.sha256(each).hexdigest() for name, each in contents.items()}
    if found != source.files:
        raise LauncherError(
            f"The source of run {folder.job_name!r} is damaged: {ARCHIVE} does not hold what "
            f"{FILE} says. Restore both from a copy."
        )
    whole = hashlib.sha256(json.dumps(source.files, sort_keys=True).encode()).hexdigest()
    return str(_unpacked(folder.path.parent / UNPACKED / whole[:16], contents) / source.script)


def _unpacked(target: Path, contents: dict[str, bytes]) -> Path:
    """Write files below a folder, whose names come from somebody's file."""
    for name, content in contents.items():
        path = (target / name).resolve()
        if not path.is_relative_to(target.resolve()):
            raise LauncherError(f"A file of a kept source is called {name[:80]!r}. Refused.")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(content)
    return target


def script_path(entry_point: str) -> str:
    """Return an entry point as people know it: of one that was given back, its name."""
    path = PurePath(entry_point)
    return path.name if UNPACKED in path.parts else entry_point


def _code_beside(script: Path) -> tuple[list[Path], str]:
    """Return the files to keep, the script first, and what is left out."""
    kept, total = [script], 0
    with contextlib.suppress(OSError):
        if script.stat().st_size > MOST_FILE_BYTES:
            return [], f"The script is larger than {MOST_FILE_BYTES // 1024} KiB."
    for looked, path in enumerate(files_below(script.parent)):
        if looked >= _MOST_LOOKED:
            return [script], f"The folder of the script holds over {_MOST_LOOKED:,} files."
        if path == script or path.suffix not in _KEPT:
            continue
        size = path.stat().st_size
        if size > MOST_FILE_BYTES:
            continue
        kept.append(path)
        total += size
        if len(kept) > MOST_FILES or total > MOST_BYTES // 2:
            much = f"{MOST_FILES} files or {MOST_BYTES // 2 // 2**20} MiB of code"
            return [script], f"The folder of the script holds over {much}."
    return kept, ""


def _git(folder: Path) -> dict[str, object]:
    """Return commit, branch and whether tracked files differ; nothing outside a repository."""
    told = _asked(folder, ["rev-parse", "HEAD", "--abbrev-ref", "HEAD"])
    if told is None:
        return {}
    commit, branch, *_ = [*told.split(), "", ""]
    changed = _asked(folder, ["status", "--porcelain", "--untracked-files=no"])
    return {
        "commit": commit,
        "branch": "" if branch == "HEAD" else branch,
        "is_changed": None if changed is None else bool(changed),
    }


def _asked(folder: Path, arguments: Sequence[str]) -> str | None:
    """Return what git prints; None: it is not there, fails, or takes too long."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(  # noqa: S603  our own arguments
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_S,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _digest(folder: Path, name: str) -> str:
    try:
        content = read_beneath(folder, folder / name, most_bytes=MOST_FILE_BYTES)
    except (OSError, ValueError, UnsafeFileError):  # another one, then
        return ""
    return hashlib.sha256(content).hexdigest()


def _private(path: Path) -> Path:
    path.touch(mode=0o600)
    return path
