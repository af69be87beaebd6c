"""The files that a script writes by itself, of two trainings that should be the same."""

from __future__ import annotations

import hashlib
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import UnsafeFileError
from smtc_lab.instance.description import GRADIENTS_FILE, MEASURED_FILE
from smtc_lab.machine.beneath import MIB, open_beneath
from smtc_lab.metrics.records.fingerprints import NAMES_FILE
from smtc_lab.neutral_text import neutral
from smtc_lab.store.run_folder import COMPILER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.store.run_folder import RunFolder

_FOLDERS = ("model", "output/data")
"""``SM_MODEL_DIR`` and ``SM_OUTPUT_DATA_DIR``, below ``SAGEMAKER_BASE_DIR``."""

_OURS = (NAMES_FILE, MEASURED_FILE, GRADIENTS_FILE, f"{COMPILER_FOLDER}/")
_MOST_FILES = 1000
_LONGEST_NAME = 100


def unlike_files(unbroken: RunFolder, resumed: RunFolder, hosts: list[str]) -> tuple[str, ...]:
    """Return the files that differ, or that one of two runs lacks, by name.

    Of the model folder and the folder of output data of each instance, by their bytes; of each
    instance the first 1,000 files.

    Args:
        unbroken: Folder of one run.
        resumed: Folder of the other one.
        hosts: Names of the instances.
    """
    found = set()
    for host in hosts:
        one, other = (dict(_files(folder.opt_ml(host))) for folder in (unbroken, resumed))
        found |= one.keys() ^ other.keys()
        found |= {
            name
            for name in one.keys() & other.keys()
            if _digest(unbroken, one[name]) != _digest(resumed, other[name])
        }
    return tuple(neutral(name, longest=_LONGEST_NAME) for name in sorted(found))


def _files(base: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that the script wrote, with their names below ``base``."""
    paths = (
        Path(place, name)
        for folder in _FOLDERS
        for place, _, names in os.walk(base / folder)
        for name in sorted(names)
    )
    named = ((path.relative_to(base).as_posix(), path) for path in paths)
    return islice((one for one in named if not one[0].startswith(_OURS)), _MOST_FILES)


def _digest(folder: RunFolder, path: Path) -> str:
    """Return a hash of a file; of one that is not to be read its kind of problem."""
    found = hashlib.blake2b()
    try:
        with open_beneath(folder.path, path) as file:
            while piece := file.read(MIB):
                found.update(piece)
    except (OSError, UnsafeFileError) as error:
        return type(error).__name__
    return found.hexdigest()
