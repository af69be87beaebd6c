"""Checkpoints of a run: written whole, found whole, or not found at all."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from pathlib import Path

_MARK = ".json"
_DATA = ".pt"


def save_checkpoint(folder: Path, state: dict[str, Any], *, step: int) -> Path:
    """Write a checkpoint; a reader sees all of it or nothing.

    The tensors go to ``step-<n>.pt`` first; the mark ``step-<n>.json`` with their size and
    hash comes last and makes them count.

    Args:
        folder: ``checkpoints`` of the instance.
        state: What ``torch.save`` takes: state dicts, numbers, text.
        step: Steps that have ended, 0 or more.

    Returns:
        The path of the mark.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = folder / f"step-{step:012d}{_DATA}"
    draft = data.with_suffix(f".{os.getpid()}.draft")
    try:
        torch.save(state, draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size_bytes = draft.stat().st_size
        draft.replace(data)
    finally:
        draft.unlink(missing_ok=True)
    mark = data.with_suffix(_MARK)
    facts = {"step": step, "size_bytes": size_bytes, "sha256": digest}
    replace_file(mark, json.dumps(facts))
    return mark


def load_checkpoint(folder: Path) -> tuple[dict[str, Any], int] | None:
    """Return the newest complete checkpoint and its step; None: there is none.

    Damaged and incomplete checkpoints are passed over. Only folders that this user's own runs
    wrote are read: torch 2.9 can be attacked through a checkpoint from elsewhere
    (CVE-2026-24747).

    Raises:
        EntryPointError: The folder belongs to another user, or the newest complete checkpoint
            holds objects that cannot be loaded safely.
    """
    if not folder.is_dir():
        return None
    if folder.stat().st_uid != os.geteuid():
        raise EntryPointError(
            f"The checkpoints in {str(folder)!r} belong to another user, and reading them "
            "could run their code. Take over only checkpoints of your own runs."
        )
    for mark in sorted(folder.glob(f"step-*{_MARK}"), reverse=True):
        state = _load_one(mark)
        if state is not None:
            return state
    return None


def _load_one(mark: Path) -> tuple[dict[str, Any], int] | None:
    try:
        facts = json.loads(mark.read_text(encoding="utf-8"))
        data = mark.with_suffix(_DATA)
        with data.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if data.stat().st_size != facts["size_bytes"] or digest != facts["sha256"]:
            return None
        return torch.load(data, weights_only=True), int(facts["step"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    except pickle.UnpicklingError as error:
        raise EntryPointError(
            f"The checkpoint {mark.stem!r} in {str(mark.parent)!r} holds objects that cannot "
            f"be loaded safely: {str(error).splitlines()[0]} Save state dicts, tensors, "
            "numbers and text only."
        ) from error
