"""What an interrupted training shows beside an unbroken one, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.fingerprints import (
    AFTER,
    BEFORE,
    BETWEEN,
    FOLDED,
    TENSOR_DIGITS,
)
from smtc_lab.study.resuming.proof import ResumeDifference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.records.fingerprints import FingerprintRecord


@dataclass(frozen=True, kw_only=True)
class TrainerFingerprints:
    """Fingerprints of one trainer of one run."""

    records: Sequence[FingerprintRecord]
    names: Sequence[str] = ()
    """Of the tensors."""

    def at(self, moment: str) -> dict[int, FingerprintRecord]:
        """Return those of a moment, by step."""
        return {one.step: one for one in self.records if one.moment == moment}

    def begins(self) -> dict[int, FingerprintRecord]:
        """Return what each step begins with, by step: what the one before left behind.

        Where several optimizers step in turns, that is not yet all when a step is recorded.
        """
        after = {step + 1: one for step, one in self.at(AFTER).items()}
        return {**self.at(BEFORE), **after, **self.at(BETWEEN)}


def first_difference(
    unbroken: TrainerFingerprints, resumed: TrainerFingerprints, *, rank: int
) -> ResumeDifference | None:
    """Return the first thing in which a resumed training differs; None: nothing does.

    Random numbers that are others and of which nothing comes are none: see ``random_drift``.
    """
    whole, there = unbroken.at(AFTER), resumed.at(AFTER)
    begun_with, loads, drifted = unbroken.begins(), resumed.at(BEFORE), None
    offset = step_found(unbroken, resumed)
    if offset is None:
        return ResumeDifference(what="loaded weights", step=0, rank=rank)
    for step in sorted(there):
        if (now := whole.get(step + offset)) is None:
            return ResumeDifference(what="steps", step=step + offset, rank=rank)
        before, loaded = begun_with.get(step + offset), loads.get(step)
        are_drawn = loaded and _are_drawn(there[step], whole, step + offset)
        made = [
            one
            for one in _unequal(_MADE, now, there[step])
            if one[0] != "batch" or not are_drawn
        ]
        if not made:  # what was loaded was right then, or changed in time by what else steps
            continue
        begun = _unequal(_LOADED, before, loaded) if before and loaded else []
        (what, field), *others = [*begun, *made]
        one, other = (before, loaded) if begun else (now, there[step])
        assert one is not None and other is not None  # noqa: PT018, S101  as found above
        names = _unlike(one, other, unbroken.names) if field in _NAMED else ()
        is_first = bool(loaded and before) and step + offset > 0
        found = ResumeDifference(
            what=what,
            step=step + offset,
            rank=rank,
            tensors=tuple(names),
            went_on=is_first and not begun and what in {"batch", "random"},
        )
        if what != "random" or others:
            return found if begun or drifted is None else drifted
        drifted = drifted or found
    if len(there) + offset != len(whole):
        return ResumeDifference(what="steps", step=len(there) + offset, rank=rank)
    return None


def random_drift(unbroken: TrainerFingerprints, resumed: TrainerFingerprints) -> int | None:
    """Return the first step with other random numbers; None: there is none.

    In a training that does not differ: nothing that it makes was drawn from them.
    """
    whole, offset = unbroken.at(AFTER), step_found(unbroken, resumed) or 0
    there = resumed.at(AFTER).items()
    numbers = ((step + offset, one.random) for step, one in there)
    unlike = (at for at, random in numbers if at in whole and whole[at].random != random)
    return min(unlike, default=None)


_NAMED = frozenset({"parameters", "buffers"})

_LOADED = (("loaded weights", "parameters"), ("loaded optimizer", "optimizer"))
"""What an attempt goes on with: kinds of differences, and the fields that tell them."""

_MADE = (
    ("batch", "batch"),
    ("random", "random"),
    ("rate", "rate"),
    ("weights", "parameters"),
    ("weights", "buffers"),
    ("optimizer", "optimizer"),
)
"""What a step leaves behind, in the order in which one makes the other."""


def step_found(unbroken: TrainerFingerprints, resumed: TrainerFingerprints) -> int | None:
    """Return the step of the unbroken run that is numbered 0 in the other; None: there is none.

    It is above 0 for a script of which nobody could tell from which step it goes on: it is
    found by the parameters that it loaded.
    """
    first, begin = unbroken.at(BEFORE).get(0), resumed.at(BEFORE).get(0)
    if begin is None or first is None or begin.parameters == first.parameters:
        return 0
    whole = unbroken.begins().items()
    found = [step for step, one in whole if one.parameters == begin.parameters]
    return min(found, default=None)


def _unequal(
    fields: Sequence[tuple[str, str]], one: FingerprintRecord, other: FingerprintRecord
) -> list[tuple[str, str]]:
    """Return the kinds of differences and the fields that differ, in their order."""
    return [each for each in fields if getattr(one, each[1]) != getattr(other, each[1])]


def _are_drawn(
    first: FingerprintRecord, whole: Mapping[int, FingerprintRecord], step: int
) -> bool:
    """Return whether the first step of an attempt has the batches that came last so far.

    A loader that draws ahead draws more for its first step than for others, and one that goes
    through what was trained draws that, too.
    """
    drawn = " ".join(whole[one].batch for one in sorted(whole) if one <= step).split()
    own = [one for one in first.batch.split() if not one.startswith(FOLDED)]
    return bool(own) and drawn[-len(own) :] == own


def _unlike(
    one: FingerprintRecord, other: FingerprintRecord, names: Sequence[str]
) -> list[str]:
    """Return the names of the tensors whose digits differ."""
    places = range(0, min(len(one.tensors), len(other.tensors)), TENSOR_DIGITS)
    return [
        names[at // TENSOR_DIGITS]
        for at in places
        if one.tensors[at : at + TENSOR_DIGITS] != other.tensors[at : at + TENSOR_DIGITS]
        and at // TENSOR_DIGITS < len(names)
    ]
