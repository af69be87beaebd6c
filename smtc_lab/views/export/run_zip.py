"""Packs runs into a zip that opens elsewhere, and takes such a zip in."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError, UnsafeFileError
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.run import Run
from smtc_lab.machine.beneath import open_beneath, read_beneath
from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import JOB_NAME, RunFolder, runs_root
from smtc_lab.store.state import current_state, read_state
from smtc_lab.views.share.hidden import (
    HIDDEN,
    secrets_of,
    text_without,
    without,
    without_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import StrPath

MOST_FILES = 100_000
"""Files of a zip, at most."""

MOST_BYTES = 16 * 2**30
"""Size of all of them, unpacked, at most."""

_MOST_TEXT = 64 * 2**20
"""A log or a JSON file up to this size is searched for secrets; the end of a longer one is."""

_LEFT_OUT = re.compile(
    r"secret|supervisor\.lock|\.ballast|package|rendezvous|records/[^/]+-shm"
    r"|logs/(supervisor|[^/]+\.agent)\.log"
    r"|instances/[^/]+/(agent\.json|hosts|opt/ml/(input|code|checkpoints))"
)
"""What belongs to the machine and not to the run, or is data: no part of a zip."""

_LONGEST_PART = 255
_PIECE = 2**20


def write_zip(target: Path, folders: Sequence[RunFolder]) -> None:
    """Write runs that have ended into a new zip; only when it is whole it has its name.

    No value of an environment variable of their jobs is in it, and none that is named like a
    secret in a JSON file or a log.

    Raises:
        StoreError: A run goes on or is damaged, the file is there, or cannot be written.
    """
    going_on = [each.job_name for each in folders if not current_state(each).is_terminal]
    if going_on:
        raise StoreError(
            f"Run {going_on[0]!r} goes on, so it is not packed. Wait for its end, or stop it."
        )
    _refuse_existing(target)
    begun = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        # a link is no target, and nobody else's file is written into
        with (
            begun.open("xb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
        ):
            begun.chmod(0o600)
            for folder in folders:
                _pack(packed, folder)
        os.link(begun, target)
    except FileExistsError:
        _refuse_existing(target)
        raise
    except OSError as error:
        raise StoreError(
            f"{str(target)!r} cannot be written ({error.strerror}). Choose another place."
        ) from error
    finally:
        begun.unlink(missing_ok=True)


def import_runs(
    path: StrPath, *, name: str | None = None, root: StrPath | None = None
) -> list[Run]:
    """Take in the runs of a zip that ``export_runs`` wrote, from whomever; return them.

    Nothing of it is executed or unpickled, and nothing that is there is replaced.

    Args:
        path: The zip.
        name: What to call its run, if it holds one; None: as it is called.
        root: Folder of runs; None: the default one.

    Raises:
        LauncherError: A handle in it is damaged.
        StoreError: It is no such zip, is too large, has names that lead out of it, holds a run
            whose name is taken, or cannot be unpacked. Nothing of it is left.
    """
    where = runs_root(root)
    try:
        where.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (
            zipfile.ZipFile(path) as packed,
            tempfile.TemporaryDirectory(prefix=".import-", dir=where) as place,
        ):
            names = _checked(packed, where, name)
            _unpack(packed, Path(place))
            for old, new in names.items():
                _check_run(Path(place) / old, new)
            for old, new in names.items():  # fails where somebody was quicker
                (Path(place) / old).rename(where / new)
        return [Run.open(str(where / new)) for new in names.values()]
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        raise _refusal(f"is no zip that can be read ({error})") from error
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} cannot be taken in ({error.strerror or error}). Correct the path, "
            "or free space."
        ) from error


def _pack(packed: zipfile.ZipFile, folder: RunFolder) -> None:
    job = read_job(folder)
    secrets = secrets_of([job])
    for name in _files(folder.path):
        try:
            if name == folder.job_file.name:
                packed.writestr(f"{folder.job_name}/{name}", without_values(job).to_json())
            elif name.endswith((".json", ".log")):
                text = _text(folder.path, name, secrets)
                packed.writestr(f"{folder.job_name}/{name}", text)
            else:
                with (
                    open_beneath(folder.path, name) as file,
                    packed.open(f"{folder.job_name}/{name}", "w", force_zip64=True) as into,
                ):
                    shutil.copyfileobj(file, into, _PIECE)
        except (UnsafeFileError, FileNotFoundError):  # links, pipes; or gone meanwhile
            continue


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files that belong to a run, from its folder."""
    for above, folders, files in os.walk(folder):
        begin = Path(above).relative_to(folder)
        folders[:] = [name for name in folders if not _LEFT_OUT.fullmatch(str(begin / name))]
        for name in sorted(files):
            path = str(begin / name)
            if not _LEFT_OUT.fullmatch(path) and all(map(_is_plain, Path(path).parts)):
                yield path


def _is_plain(part: str) -> bool:
    """Return whether a part of a path leads nowhere else, on any system."""
    is_name = part.isprintable() and not set(part) & set("\\/:") and part.strip(". ") != ""
    return is_name and len(part.encode()) <= _LONGEST_PART


def _text(folder: Path, name: str, secrets: dict[str, str]) -> str:
    try:
        content = read_beneath(folder, name, most_bytes=_MOST_TEXT)
    except UnsafeFileError:
        with open_beneath(folder, name) as file:
            file.seek(-_MOST_TEXT, os.SEEK_END)
            content = file.read(_MOST_TEXT)
    text = content.decode("utf-8", "replace")
    if not name.endswith(".json"):
        return text_without(text, secrets)
    try:
        return json.dumps(without(_without_variables(json.loads(text)), secrets), indent=1)
    except (ValueError, RecursionError):
        return text_without(text, secrets)


def _without_variables(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Return a JSON value without the values of environment variables of a request."""
    if isinstance(value, list):
        return list(map(_without_variables, value))
    if not isinstance(value, dict):
        return value
    return {
        name: dict.fromkeys(each, HIDDEN)
        if name in {"Environment", "environment"} and isinstance(each, dict)
        else _without_variables(each)
        for name, each in value.items()
    }


def _checked(packed: zipfile.ZipFile, root: Path, name: str | None) -> dict[str, str]:
    """Return the names of the runs of a zip, and what they will be called."""
    entries = packed.infolist()
    size = sum(each.file_size for each in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES:
        raise _refusal(
            f"holds {len(entries):,} files of {size / 2**30:.1f} GiB; {MOST_FILES:,} of "
            f"{MOST_BYTES // 2**30} GiB are taken"
        )
    seen: set[str] = set()
    for each in entries:
        parts = each.filename.removesuffix("/").split("/")
        kind = stat.S_IFMT(each.external_attr >> 16)
        if kind not in {0, stat.S_IFREG, stat.S_IFDIR} or each.flag_bits & 1:
            raise _refusal(f"holds {each.filename[:80]!r}, which is no plain file")
        if (
            not all(map(_is_plain, parts))
            or not JOB_NAME.fullmatch(parts[0])
            or each.filename in seen
        ):
            raise _refusal(f"holds a file called {each.filename[:80]!r}")
        seen.add(each.filename)
    runs = sorted({each.split("/")[0] for each in seen})
    lone = [run for run in runs if f"{run}/job.json" not in seen]
    if not runs or lone:
        raise _refusal(f"holds no job.json of {lone[0]!r}" if lone else "is empty")
    if name is not None and (len(runs) > 1 or not JOB_NAME.fullmatch(name)):
        raise StoreError(
            f"The zip holds {', '.join(runs[:5])}, which cannot be called {name[:80]!r}. A "
            "name is for one run: 1 to 63 letters and digits with '-' between them."
        )
    names = {run: name or run for run in runs}
    for new in names.values():
        if os.path.lexists(root / new):
            raise StoreError(
                f"A run named {new!r} already lies in {str(root)!r}. Import it under another "
                "name (name=, --name), into another folder, or delete that one first."
            )
    return names


def _unpack(packed: zipfile.ZipFile, place: Path) -> None:
    """Unpack what was checked: folders and plain files, private to their user."""
    for each in packed.infolist():
        target = place / each.filename
        if each.is_dir():
            target.mkdir(parents=True, exist_ok=True, mode=0o700)
            continue
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with packed.open(each) as file, target.open("xb") as into:
            os.fchmod(into.fileno(), 0o600)
            left = each.file_size
            while piece := file.read(min(_PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise _refusal(f"holds {each.filename[:80]!r}, longer than it says")
                into.write(piece)


def _check_run(unpacked: Path, name: str) -> None:
    """Refuse a run that has not ended or cannot be read, and give it its name."""
    folder = RunFolder(unpacked)
    read_job(folder)
    Handle.read(folder.handle_file)
    if not read_state(folder).is_terminal:
        raise _refusal(f"holds run {unpacked.name!r}, which has not ended")
    if unpacked.name != name:
        for path in (folder.job_file, folder.handle_file):
            values = json.loads(read_beneath(unpacked, path, most_bytes=_MOST_TEXT))
            path.write_text(json.dumps({**values, "job_name": name}), encoding="utf-8")


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(
            f"{str(target)!r} is there already. Choose another name, or remove it."
        )


def _refusal(what: str) -> StoreError:
    return StoreError(
        f"The zip {what}, so nothing of it was taken in. Ask whoever made it for one that "
        "'smtc-lab runs export' wrote."
    )
