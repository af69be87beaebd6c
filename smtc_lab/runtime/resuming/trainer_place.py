"""Who a trainer is, where its checkpoints lie, and what they say of who wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.neutral_text import neutral
from smtc_lab.parallel.full_state import from_rank_0
from smtc_lab.parallel.group import is_joined
from smtc_lab.runtime.checkpoint import complete_steps, forget_newer, read_checkpoint
from smtc_lab.runtime.resuming.agreement import newest_of_all, of_rank_0

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class TrainerPlace:
    """Who this trainer is, and where its checkpoints lie."""

    folder: Path
    """Those of all trainers of this instance."""

    rank: int
    world_size: int

    attempt: int = 1
    """Which one of the run this is, from 1."""

    global_batch: Callable[[Any], int | None]
    """Returns how many samples all trainers take at once of a loader; None: not known."""

    @property
    def own_folder(self) -> Path:
        """Where the checkpoints of this trainer lie."""
        return self.folder / f"rank{self.rank}"

    def origin(self) -> dict[str, Any]:
        """Return what a checkpoint says of who writes it."""
        return {
            "format": _FORMAT,
            "torch": str(torch.__version__),
            "attempt": self.attempt,
            "world_size": self.world_size,
        }


def newest_checkpoint(
    place: TrainerPlace,
    own_parts: Callable[[Any], Any],
    say: Callable[[str, str], None],
) -> dict[str, Any] | None:
    """Return the newest checkpoint that all trainers have; of other trainers' rank 0's.

    All trainers call this.

    Args:
        place: Of this trainer.
        own_parts: Returns what each trainer has by itself of a checkpoint's parts.
        say: Tells people; called with a kind of event and a sentence.

    Raises:
        EntryPointError: It has another format.
    """
    own, first = place.own_folder, None
    if not place.rank:
        newest = next(complete_steps(own), None)
        first = None if newest is None else read_checkpoint(own, newest)
    world_size = trainers_of(first, own)
    if not world_size:
        return None
    if world_size != place.world_size:
        say(
            "warning",
            f"The checkpoint is of {world_size} trainers, and there are {place.world_size} "
            "now: the model goes on, and random numbers are drawn anew.",
        )
        return _of_other_trainers(first, own_parts)
    step = newest_of_all(complete_steps(own))
    if step is None:
        return None
    forget_newer(own, step)  # else a save would count as the oldest, and go at once
    is_first = first is not None and first["step"] == step
    return first if is_first else read_checkpoint(own, step)


def _of_other_trainers(
    first: dict[str, Any] | None, own_parts: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return rank 0's checkpoint to trainers of another number, what they share to it."""
    shared: dict[str, Any] = {}
    if first is not None:
        shared = {**first, "parts": own_parts(first["parts"]), "random": None}
    found: dict[str, Any] = from_rank_0(shared) if is_joined() else shared
    if first is not None:
        found["parts"] = first["parts"]
    return found


def trainers_of(newest: Mapping[str, Any] | None, folder: Path) -> int:
    """Return how many trainers rank 0's newest checkpoint is of; 0: there is none.

    All trainers call this.

    Args:
        newest: Of rank 0; the others give None.
        folder: Where this trainer's checkpoints lie.

    Raises:
        EntryPointError: It has another format.
    """
    found = {"format": _FORMAT, "world_size": 0} if newest is None else newest
    is_ours = found.get("format") == _FORMAT
    world_size = of_rank_0(int(found["world_size"]) if is_ours else -1)
    if world_size < 0:
        shown = "another format" if is_ours else f"format {found.get('format')!r}"
        raise EntryPointError(
            f"The newest checkpoint in {str(folder)!r} has {neutral(shown, longest=40)}, and "
            f"this smtc_lab reads format {_FORMAT}. Go on with the smtc_lab that wrote it, or "
            "train from the begin in another checkpoint folder."
        )
    return world_size


def other_torch(found: Mapping[str, Any]) -> str:
    """Return a caution where another torch wrote a checkpoint; empty: it is not known to."""
    was, now = str(found.get("torch", torch.__version__)), str(torch.__version__)
    if was == now:
        return ""
    return (
        f"The checkpoint is of torch {neutral(was, longest=40)}, and this is torch {now}: "
        "training goes on, but other bits may come out than without an interruption. Install "
        "that torch to have the same."
    )
