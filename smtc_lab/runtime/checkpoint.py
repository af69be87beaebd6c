"""Checkpoints of a run: written whole, found whole, or not found at all."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.plain_values import plain
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

_MARK = ".json"
_DATA = ".pt"
_DRAFT = ".draft"


def save_checkpoint(
    folder: Path,
    state: dict[str, Any],
    *,
    step: int,
    before_it_counts: Callable[[], None] = lambda: None,
) -> Path:
    """Write a checkpoint; a reader sees all of it or nothing.

    The tensors go to ``step-<n>.pt`` first; the mark ``step-<n>.json`` with their size and
    hash comes last and makes them count.

    Args:
        folder: ``checkpoints`` of the instance.
        state: State dicts, tensors, numbers and text.
        step: Steps that have ended, 0 or more.
        before_it_counts: Called before the mark is written.

    Returns:
        The path of the mark.

    Raises:
        EntryPointError: Something in the state could not be loaded again.
        OSError: It cannot be written; what was there before still is.
    """
    values = {name: plain(value, name) for name, value in state.items()}
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = folder / f"step-{step:012d}{_DATA}"
    draft = data.with_suffix(f".{os.getpid()}{_DRAFT}")
    try:
        _write(values, draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size_bytes = draft.stat().st_size
        draft.replace(data)
    finally:
        draft.unlink(missing_ok=True)
    before_it_counts()
    mark = data.with_suffix(_MARK)
    facts = {"step": step, "size_bytes": size_bytes, "sha256": digest}
    replace_file(mark, json.dumps(facts))
    return mark


def _write(values: dict[str, Any], draft: Path) -> None:
    try:
        torch.save(values, draft)
    except RuntimeError as error:  # what torch makes of a full disk
        raise OSError(f"{str(error).splitlines()[0]}") from error


def load_checkpoint(folder: Path) -> tuple[dict[str, Any], int] | None:
    """Return the newest complete checkpoint and its step; None: there is none.

    Damaged and incomplete checkpoints are passed over. Only folders that this user's own runs
    wrote are read: torch 2.9 can be attacked through a checkpoint from elsewhere
    (CVE-2026-24747).

    Raises:
        EntryPointError: The folder belongs to another user, or the newest complete checkpoint
            holds objects that cannot be loaded safely.
    """
    for step in complete_steps(folder):
        state = read_checkpoint(folder, step)
        if state is not None:
            return state, step
    return None


def complete_steps(folder: Path) -> Iterator[int]:
    """Yield the steps of the complete checkpoints in a folder, from the newest.

    Raises:
        EntryPointError: The folder belongs to another user.
    """
    if not folder.is_dir():
        return
    if folder.stat().st_uid != os.geteuid():
        raise EntryPointError(
            f"The checkpoints in {str(folder)!r} belong to another user, and reading them "
            "could run their code. Take over only checkpoints of your own runs."
        )
    for mark in _marks(folder):
        try:
            facts = json.loads(mark.read_text(encoding="utf-8"))
            data = mark.with_suffix(_DATA)
            with data.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if data.stat().st_size == facts["size_bytes"] and digest == facts["sha256"]:
                yield int(facts["step"])
        except (OSError, ValueError, KeyError, TypeError):
            continue


def read_checkpoint(folder: Path, step: int) -> dict[str, Any] | None:
    """Return a complete checkpoint; None: it cannot be read any more.

    Raises:
        EntryPointError: It holds objects that cannot be loaded safely.
    """
    data = folder / f"step-{step:012d}{_DATA}"
    try:
        found: dict[str, Any] = torch.load(data, weights_only=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    except pickle.UnpicklingError as error:
        raise EntryPointError(
            f"The checkpoint {data.stem!r} in {str(folder)!r} holds objects that cannot "
            f"be loaded safely: {str(error).splitlines()[0]} Save state dicts, tensors, "
            "numbers and text only."
        ) from error
    return found


def score_checkpoint(folder: Path, step: int, score: float) -> None:
    """Write how good a complete checkpoint is beside it; nothing where there is none.

    Raises:
        OSError: It cannot be written.
    """
    mark = folder / f"step-{step:012d}{_MARK}"
    if mark.exists():
        facts = json.loads(mark.read_text(encoding="utf-8"))
        replace_file(mark, json.dumps({**facts, "score": score}))


def best_steps(folder: Path, *, greatest: bool) -> list[int]:
    """Return the steps of the checkpoints that have a score, from the best.

    Args:
        folder: Where they lie.
        greatest: Whether a greater score is a better one.
    """
    found = []
    for mark in _marks(folder):
        with suppress(OSError, ValueError, KeyError, TypeError):  # a damaged one counts nothing
            facts = json.loads(mark.read_text(encoding="utf-8"))
            found.append((float(facts["score"]), int(facts["step"])))
    sign = -1 if greatest else 1
    return [step for _, step in sorted(found, key=lambda one: (sign * one[0], one[1]))]


def forget_checkpoints(folder: Path, *, keep_last: int, best: Collection[int] = ()) -> None:
    """Remove all checkpoints but the newest ones, and what interrupted saves have left.

    Args:
        folder: Where they lie.
        keep_last: How many of the newest stay.
        best: Steps of others that stay.
    """
    kept = {f"step-{step:012d}" for step in best}
    for mark in [one for one in _marks(folder)[keep_last:] if one.stem not in kept]:
        mark.unlink(missing_ok=True)  # first: without its mark the data does not count
        mark.with_suffix(_DATA).unlink(missing_ok=True)
    marked = {mark.stem for mark in _marks(folder)}
    newest = max(marked, default="")
    for left in (*folder.glob(f"step-*{_DATA}"), *folder.glob(f"step-*{_DRAFT}")):
        step = left.name.partition(".")[0]
        if step < newest and not (step in marked and left.suffix == _DATA):
            left.unlink(missing_ok=True)


def forget_newer(folder: Path, step: int) -> None:
    """Remove the checkpoints after a step: they are of a training that goes on before them."""
    for mark in _marks(folder):
        if mark.stem > f"step-{step:012d}":
            mark.unlink(missing_ok=True)
            mark.with_suffix(_DATA).unlink(missing_ok=True)


def _marks(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"step-*{_MARK}"), reverse=True)
