"""What an attempt finds of those before it: the checkpoints of any instance, and no more."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import UnsafeFileError
from smtc_lab.instance.opt_ml import (
    AUTOMATIC_CHECKPOINTS,
    CHECKPOINTS,
    SESSION_CHECKPOINTS,
    listing,
)
from smtc_lab.machine.beneath import MIB, open_beneath, read_beneath
from smtc_lab.machine.stored_text import parsed_json
from smtc_lab.neutral_text import neutral
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.store.run_folder import RunFolder

    Version = tuple[int, int]
    Files = dict[str, Version]

_BROUGHT = "brought.json"
_MOST_FILES = 20_000
_OF_ONE_TRAINER = re.compile(
    rf"{CHECKPOINTS}/({SESSION_CHECKPOINTS}|{AUTOMATIC_CHECKPOINTS})/rank[0-9]+/.*"
)


def forget_attempt(folder: RunFolder, host: str) -> None:
    """Remove what an attempt left on an instance, which the next one does not find on its own.

    Checkpoints stay: they are what a platform brings back.
    """
    folder.exit_file(host).unlink(missing_ok=True)
    for name in ("output", "model"):
        shutil.rmtree(folder.opt_ml(host) / name, ignore_errors=True)


def bring_to_all(folder: RunFolder, hosts: Sequence[str]) -> str:
    """Give each instance the checkpoints that any of them has kept, before an attempt.

    A platform that keeps the checkpoint folders of all instances in one place (S3) brings them
    so. Of a file that several have changed the one that was written last counts, and what one
    has deleted since is deleted on all, unless nothing is left there. What sessions keep for
    each trainer by itself stays with it. Links are left alone, and nothing is read or written
    through one.

    Args:
        folder: The run's folder, in which nothing runs now.
        hosts: Those of its instances that run the script.

    Returns:
        Why an instance may lack what another one kept, for people; empty: none does.
    """
    if len(hosts) < 2:
        return ""
    here = {host: _kept(folder, host) for host in hosts}
    count = sum(map(len, here.values()))
    if count > _MOST_FILES:
        return _caution(f"they are {count:,} files, and at most {_MOST_FILES:,} are brought")
    brought = _brought(folder)
    wanted = _wanted(here, brought)
    lacking = [
        (name, source, host)
        for name, (_, source) in wanted.items()
        for host in hosts
        if here[host].get(name) != wanted[name][0]
    ]
    num_bytes = sum(wanted[name][0][1] for name, _, _ in lacking)
    try:
        if num_bytes > (free := shutil.disk_usage(folder.path).free):
            return _caution(f"they take {num_bytes:,} bytes, and {free:,} are free")
        _delete(folder, here, wanted.keys())
        now = {name: version for name, (version, _) in wanted.items()}
        for name, source, host in lacking:
            if not _copy(folder, name, wanted[name][0], source=source, host=host):
                now.pop(name, None)  # else it would look deleted there
        if now != brought:
            replace_file(folder.path / _BROUGHT, json.dumps(now))
    except (OSError, UnsafeFileError) as error:
        return _caution(neutral(str(error), longest=200))
    return ""


def _kept(folder: RunFolder, host: str) -> Files:
    base = folder.opt_ml(host)
    if not _is_without_link(folder, base / CHECKPOINTS):
        return {}
    return {
        name: (changed_ns, size)
        for name, size, changed_ns in listing(base)
        if not _OF_ONE_TRAINER.fullmatch(name)
    }


def _wanted(here: Mapping[str, Files], brought: Files) -> dict[str, tuple[Version, str]]:
    """Return the version of each file that all are to have, and an instance that has it."""
    wanted, num_left = {}, sum(map(bool, here.values()))  # an empty one was lost
    for name in {name: None for files in here.values() for name in files}:
        there = [(files[name], host) for host, files in here.items() if name in files]
        changed = [one for one in there if one[0] != brought.get(name)]
        if changed or len(there) == num_left:
            wanted[name] = max(changed or there)
    return wanted


def _brought(folder: RunFolder) -> Files:
    """Return what all had after the last time; nothing where that is not known."""
    try:
        read: Any = parsed_json(read_beneath(folder.path, _BROUGHT, most_bytes=8 * MIB))
        return {name: (int(one[0]), int(one[1])) for name, one in read.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, UnsafeFileError):
        return {}


def _delete(folder: RunFolder, here: Mapping[str, Files], wanted: Any) -> None:  # noqa: ANN401  a set of names
    for host, files in here.items():
        base = folder.opt_ml(host)
        for name in files.keys() - wanted:
            (base / name).unlink(missing_ok=True)
            above = (base / name).parent
            while above.parent != base and not any(above.iterdir()):
                above.rmdir()
                above = above.parent


def _copy(folder: RunFolder, name: str, version: Version, *, source: str, host: str) -> bool:
    """Copy a file, whole, with its time; return False: something is in its way."""
    target, draft = folder.opt_ml(host) / name, folder.instance(host) / "brought.draft"
    if not _is_without_link(folder, target) or target.is_dir():
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileExistsError, NotADirectoryError):
        return False
    draft.unlink(missing_ok=True)
    held = folder.opt_ml(source) / name
    with open_beneath(folder.path, held) as file, draft.open("xb") as copied:
        shutil.copyfileobj(file, copied, MIB)
    os.utime(draft, ns=(version[0], version[0]))
    draft.replace(target)
    return True


def _is_without_link(folder: RunFolder, path: Path) -> bool:
    own = os.path.realpath(folder.path)
    return os.path.realpath(path) == str(Path(own, path.relative_to(folder.path)))


def _caution(why: str) -> str:
    return (
        f"Checkpoints of each instance were not brought to the others: {why}. A script that "
        "saves on one and loads on all may begin anew on some; free space, or keep fewer."
    )
