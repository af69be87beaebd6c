"""Keeps a folder of checkpoints to one training at a time."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NAME = "in-use"
_TAKEN = {errno.EACCES, errno.EAGAIN}
_claimed: list[int] = []
"""Descriptors that are open until this process ends, and the claims with them."""


def claim_folder(folder: Path, say: Callable[[str, str], None]) -> None:
    """Make a folder, and take it for this process until that ends, however it does.

    Its children do not hold it. A folder that cannot be written is told, and nothing else: the
    training is worth more than its checkpoints.

    Args:
        folder: Where checkpoints of one trainer lie.
        say: Tells people; called with a kind of event and a sentence.

    Raises:
        EntryPointError: Another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(folder / _NAME, flags, 0o600)
    except OSError as error:
        say(
            "warning",
            f"No checkpoint can be written to {str(folder)!r} ({error.strerror or error}). "
            "Training goes on, and begins anew after an interruption. Give a folder that can "
            "be written.",
        )
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _TAKEN:
            raise EntryPointError(
                f"Another training keeps its checkpoints in {str(folder)!r} now. Give each a "
                "folder of its own, or wait until the other has ended."
            ) from error
        return  # a file system without locks
    _claimed.append(descriptor)
