"""What an interrupted training shows beside an unbroken one, and the first difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.fingerprints import AFTER, BEFORE, FOLDED, TENSOR_DIGITS
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.records.fingerprints import FingerprintRecord

_MOST_NAMES = 3

_MENDED: Mapping[str, tuple[str, str]] = {
    "loaded weights": (
        "the model that it goes on with is not the one that it had",
        "session.checkpoint(model=model, ...), or model.load_state_dict(...) of what was saved",
    ),
    "loaded optimizer": (
        "the optimizer's state is not taken up",
        "session.checkpoint(optimizer=optimizer, ...), or optimizer.load_state_dict(...)",
    ),
    "batch": (
        "the samples are others, or in another order",
        "session.steps(loader) after session.checkpoint(...), or a StatefulDataLoader's state",
    ),
    "random": (
        "random numbers are not those of before",
        "session.checkpoint(...), or save torch.get_rng_state(), numpy's and random's state",
    ),
    "rate": (
        "the learning rate is another one",
        "session.checkpoint(scheduler=scheduler, ...), or scheduler.load_state_dict(...)",
    ),
    "weights": (
        "the same samples, random numbers and state make other weights",
        "torch.use_deterministic_algorithms(True), or session.checkpoint(scaler=scaler, ...)",
    ),
    "optimizer": (
        "the optimizer's state becomes another one",
        "session.checkpoint(optimizer=optimizer, ...)",
    ),
    "steps": (
        "it does not train as many steps",
        "for batch in session.steps(loader, epochs=...), or count what was trained before",
    ),
}
"""Each kind of difference, in the order in which one makes the other: what it is, and the line
that would mend it."""


class ResumeDifference(Result):
    """The first thing in which an interrupted training differs."""

    what: str
    """``loaded weights``, ``loaded optimizer``, ``batch``, ``random``, ``rate``, ``weights``,
    ``optimizer`` or ``steps``."""

    step: int
    """Number of the step, from 0."""

    rank: int
    """Which trainer, from 0."""

    tensors: tuple[str, ...] = ()
    """Names of parameters and buffers that differ, as far as they are known."""

    @property
    def sentence(self) -> str:
        """What differs, for people."""
        named = ", ".join(self.tensors[:_MOST_NAMES])
        more = len(self.tensors) - _MOST_NAMES
        of = f" ({named}{f' and {more} more' if more > 0 else ''})" if named else ""
        return f"In step {self.step} of rank {self.rank} {_MENDED[self.what][0]}{of}."

    @property
    def mend(self) -> str:
        """The line that would mend it."""
        return _MENDED[self.what][1]


class ResumeProof(Result):
    """Whether a script that is killed trains, bit for bit, what an unbroken one trains."""

    equal: bool
    """Whether all weights, optimizer states, samples, learning rates and random numbers of all
    steps are the same bits. A script that begins anew is equal, too, and so is one that was not
    killed: see ``began_anew`` and ``was_killed``."""

    steps: int
    """Steps of the unbroken run."""

    ranks: int
    """Trainers."""

    interrupted_at: tuple[int, ...]
    """Steps that were recorded when its processes were killed."""

    went_on_from: tuple[int, ...]
    """Steps after which it went on each time; 0: it began anew, or it could not be told."""

    first_difference: ResumeDifference | None = None
    """The first one; None: there is none."""

    runs: tuple[str, str]
    """Names of the unbroken and of the interrupted run."""

    @property
    def was_killed(self) -> bool:
        """Whether it was killed at all; False: its run ended before, so nothing is proved."""
        return bool(self.interrupted_at)

    @property
    def began_anew(self) -> bool:
        """Whether it was killed and began from its first step each time: nothing was kept."""
        return self.was_killed and not any(self.went_on_from)

    @property
    def verdict(self) -> str:
        """The result in a sentence or two."""
        if self.first_difference is not None:
            found = self.first_difference
            return f"Not equal. {found.sentence} This would mend it: {found.mend}."
        if not self.was_killed:
            return (
                f"It was not killed: its run ended before, after {self.steps} steps in which "
                "nothing differs. Let it take more steps, or fewer --interruptions."
            )
        times = len(self.interrupted_at)
        often = "once" if times == 1 else f"{times} times"
        bits = f"it trained the bits of the unbroken run in each of {self.steps} steps."
        if self.began_anew:
            return (
                f"It does not go on: killed {often}, it began anew each time, and then {bits} "
                "It keeps no checkpoint that it goes on from. Call "
                "session.checkpoint(model=model, optimizer=optimizer); a plain loop without a "
                "session may do with --resume automatic."
            )
        return f"Equal: killed {often}, {bits}"

    def __str__(self) -> str:
        return self.verdict


@dataclass(frozen=True, kw_only=True)
class TrainerFingerprints:
    """Fingerprints of one trainer of one run."""

    records: Sequence[FingerprintRecord]
    names: Sequence[str] = ()
    """Of the tensors."""

    def at(self, moment: str) -> dict[int, FingerprintRecord]:
        """Return those of a moment, by step."""
        return {one.step: one for one in self.records if one.moment == moment}


def first_difference(
    unbroken: TrainerFingerprints, resumed: TrainerFingerprints, *, rank: int
) -> ResumeDifference | None:
    """Return the first thing in which a resumed training differs; None: nothing does."""
    whole, there, begins = unbroken.at(AFTER), resumed.at(AFTER), resumed.at(BEFORE)
    offset = step_found(unbroken, resumed)
    if offset is None:
        return ResumeDifference(what="loaded weights", step=0, rank=rank)
    for step in sorted(there):
        now = whole.get(step + offset)
        if now is None:
            return ResumeDifference(what="steps", step=step + offset, rank=rank)
        before = whole.get(step + offset - 1, unbroken.at(BEFORE).get(step + offset))
        loaded = begins.get(step)
        made = [
            (what, field, now, there[step])
            for what, field in _MADE
            if getattr(now, field) != getattr(there[step], field)
            and not (
                what == "batch" and loaded and _are_drawn(there[step], whole, step + offset)
            )
        ]
        if not made:  # what was loaded was right then, or changed in time by what else steps
            continue
        begun = [
            (what, field, before, loaded)
            for what, field in _LOADED
            if before and loaded and getattr(before, field) != getattr(loaded, field)
        ]
        what, field, one, other = [*begun, *made][0]
        names = _unlike(one, other, unbroken.names) if field in _NAMED else ()
        return ResumeDifference(what=what, step=step + offset, rank=rank, tensors=tuple(names))
    if len(there) + offset != len(whole):
        return ResumeDifference(what="steps", step=len(there) + offset, rank=rank)
    return None


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
    whole = unbroken.at(AFTER).items()
    found = [step + 1 for step, one in whole if one.parameters == begin.parameters]
    return min(found, default=None)


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
