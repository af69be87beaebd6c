"""What an event says of a checkpoint that was kept, written and read side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.records.records import EventRecord

_KIND = "checkpoint"
_SAID = re.compile(r"Step ([0-9]{1,15}) is kept; training waited ([0-9.e+-]{1,12}) ms\.")


@dataclass(frozen=True, kw_only=True)
class Save:
    """A checkpoint that a trainer kept."""

    step: int
    """Steps that had ended, over all attempts."""

    stall_s: float
    """For how long it held the training up, in seconds."""

    time_s: float
    """When it was whole, in seconds since the epoch."""


def save_words(step: int, stall_s: float) -> str:
    """Return the sentence of the event of a save.

    Args:
        step: Steps that have ended, over all attempts.
        stall_s: For how long it held the training up, in seconds.
    """
    return f"Step {step} is kept; training waited {1e3 * stall_s:.3g} ms."


def saves_of(events: Iterable[EventRecord]) -> list[Save]:
    """Return the saves that events tell of, of all trainers and attempts, in their order."""
    saves = []
    for event in events:
        said = _SAID.fullmatch(event.message) if event.kind == _KIND else None
        if said is not None:
            stall_s = _number(said[2]) / 1e3
            saves.append(Save(step=int(said[1]), stall_s=stall_s, time_s=event.time_s))
    return saves


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # nobody of ours wrote it
        return 0.0
