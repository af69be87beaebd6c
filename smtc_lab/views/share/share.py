"""Writes a result as one file that anybody can open."""

from __future__ import annotations

import contextlib
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.views.share.page import page
from smtc_lab.views.share.shared import shared

if TYPE_CHECKING:
    from smtc_lab.views.share.shared import Shareable


def share(thing: Shareable, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a result as one HTML file with its interactive views, and return the path.

    The file opens in a browser with no JupyterLab, no kernel and no network, has at most
    1.5 MB, and can load and send nothing. It says what it shows, and of what goes on that it
    is what there was so far. No value of an environment variable is in it, nor of an argument
    or a hyperparameter that is named like a secret; names, paths and what a failed script said
    last are.

    Args:
        thing: A run, a comparison or another study, a comparison's outcome, a scaling
            study's result, or a plan.
        path: The file, ``NAME.html``. Its folder is made when it is not there.
        overwrite: Whether a file that is there already is replaced.

    Raises:
        StoreError: The file is there already or cannot be written, or the thing's folder cannot
            be read.
        TypeError: It is none of these things.
        ViewError: The front end was not built, or the result is too large.
    """
    target = Path(path)
    if not overwrite and os.path.lexists(target):
        raise _is_there(target)
    _write(target, page(shared(thing), at=datetime.now(UTC)), overwrite=overwrite)
    return target


def _write(target: Path, text: str, *, overwrite: bool) -> None:
    """Write a file as a whole: nobody sees a part of it, and no other file is lost."""
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            draft.replace(target)
        else:
            _move(draft, target)
    except OSError as error:
        raise StoreError(
            f"The file {str(target)!r} cannot be written: {error.strerror}. Choose a path that "
            "you may write to, on a disk with free space."
        ) from error
    finally:
        with contextlib.suppress(OSError):  # it has another name by now, or was never begun
            draft.unlink()


def _move(draft: Path, target: Path) -> None:
    """Give a draft its name, unless another file has it."""
    try:
        target.hardlink_to(draft)
    except FileExistsError as error:
        raise _is_there(target) from error
    except OSError:  # this disk has no links
        if os.path.lexists(target):
            raise _is_there(target) from None
        draft.replace(target)


def _is_there(target: Path) -> StoreError:
    return StoreError(
        f"The file {str(target)!r} is there already. Give another path, or overwrite=True."
    )
