"""The folder that stands for ``/opt/ml`` on an instance.

Standard library only: the agent of an instance imports it before anything else.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.instance.hyperparameters import encode_hyperparameters

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG_FOLDER = "input/config"
"""Where the tree has its three configuration files."""

DATA_FOLDER = "input/data"
"""Where the tree has one entry for each channel."""

CHECKPOINTS = "checkpoints"
"""Where the tree has what outlives its instance."""

SESSION_CHECKPOINTS = "resume"
"""Folder of checkpoints in which a ``Session`` keeps those of each trainer apart."""

AUTOMATIC_CHECKPOINTS = "automatic"
"""The same of plain loops that are resumed automatically."""

_FOLDERS = (
    CONFIG_FOLDER,
    DATA_FOLDER,
    CHECKPOINTS,
    "code",
    "model",
    "output/data",
    "output/intermediate",
)

_FILE_CHANNEL = {
    "TrainingInputMode": "File",
    "S3DistributionType": "FullyReplicated",
    "RecordWrapperType": "None",
}
"""What SageMaker writes of a channel whose files are all copied to every instance."""


def write_opt_ml(
    base: Path,
    *,
    resource_config: Mapping[str, object],
    hyperparameters: Mapping[str, object],
    channels: Mapping[str, Path],
) -> None:
    """Write the tree that an entry point finds under ``/opt/ml``.

    Folders that are made here are private (0700). Writing the same tree again changes
    nothing; each file and link is replaced as a whole, so a reader never sees half of one.
    What the entry point wrote (model, output, checkpoints) is left alone.

    Args:
        base: The folder that stands for ``/opt/ml``; made if it is not there.
        resource_config: Content of ``resourceconfig.json`` for this instance.
        hyperparameters: Values by name, as JSON knows them. The platform's own go in here
            too: ``sagemaker_program`` and the other ``sagemaker_*`` names.
        channels: Folder of each channel that this instance gets, by channel name.

    Raises:
        SpecError: A hyperparameter that cannot be passed on, or a channel without a folder.
        LauncherError: The tree cannot be written.
    """
    contents: dict[str, Mapping[str, object]] = {
        "resourceconfig.json": resource_config,
        "hyperparameters.json": encode_hyperparameters(hyperparameters),
        "inputdataconfig.json": dict.fromkeys(channels, _FILE_CHANNEL),
    }
    _refuse_missing_channels(channels)
    try:
        for folder in _FOLDERS:
            _make_private_folder(base / folder)
        for name, content in contents.items():
            _replace_file(base / CONFIG_FOLDER / name, json.dumps(content))
        for name, source in channels.items():
            _replace_link(base / DATA_FOLDER / name, source)
    except OSError as error:
        raise LauncherError(
            f"The /opt/ml tree of an instance cannot be written to {str(base)!r}: {error}. "
            "Free space or the place, or choose another run folder."
        ) from error


def listing(base: Path) -> list[tuple[str, int, int]]:
    """Return the checkpoints below an ``opt/ml``: path, bytes, and time of change in ns.

    They stand in the order in which they were changed: what makes others count comes last.
    Links are none of them, and none is followed.
    """
    found = []
    for where, _, names in os.walk(base / CHECKPOINTS):
        for name in names:
            path = Path(where, name)
            try:
                known = path.lstat()
            except OSError:  # gone meanwhile
                continue
            if stat.S_ISREG(known.st_mode):
                told = (path.relative_to(base).as_posix(), known.st_size, known.st_mtime_ns)
                found.append(told)
    return sorted(found, key=lambda told: (told[2], told[0]))


def _refuse_missing_channels(channels: Mapping[str, Path]) -> None:
    problems = [
        f"Channel {name!r} reads from {str(source)!r}, which is not a folder of this machine. "
        "Make the folder, or change the channel's source."
        for name, source in channels.items()
        if not source.is_dir()
    ]
    if problems:
        raise SpecError(problems)


def _make_private_folder(folder: Path) -> None:
    # Path.mkdir(parents=True) would make the parents with the mode of the umask.
    if not folder.parent.is_dir():
        _make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _replace_file(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def _replace_link(link: Path, source: Path) -> None:
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(source.absolute(), target_is_directory=True)
    new.replace(link)
