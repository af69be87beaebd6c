"""Whether a training that is killed goes on as if nothing had been, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    went_on: bool = False
    """Whether it is the first step of an attempt, and the model and the optimizer's state that
    it loaded are those of before."""

    @property
    def sentence(self) -> str:
        """What differs, for people."""
        of = f" ({_listed(self.tensors)})" if self.tensors else ""
        return f"In step {self.step} of rank {self.rank} {_MENDED[self.what][0]}{of}."

    @property
    def mend(self) -> str:
        """The line that would mend it."""
        return _MENDED[self.what][1]


class ResumeProof(Result):
    """Whether a script that is killed trains, bit for bit, what an unbroken one trains."""

    equal: bool
    """Whether all weights, optimizer states, samples and learning rates of all steps are the
    same bits, and the random numbers that something was made of. A script that begins anew is
    equal, too, and so is one that was not killed: see ``began_anew`` and ``was_killed``."""

    steps: int
    """Steps of the unbroken run."""

    ranks: int
    """Trainers."""

    interrupted_at: tuple[int, ...]
    """Steps that were recorded when its processes were killed, before its last step."""

    went_on_from: tuple[int, ...]
    """Steps after which it went on each time; 0: it began anew, or it could not be told."""

    first_difference: ResumeDifference | None = None
    """The first one; None: there is none."""

    other_random_from: int | None = None
    """Step from which random numbers are others, where nothing came of it; None: nowhere."""

    unlike_files: tuple[str, ...] = ()
    """Files of the script's own below ``SM_MODEL_DIR`` and ``SM_OUTPUT_DATA_DIR`` that differ
    although the training is equal, as ``model/best.pt``."""

    is_automatic: bool = False
    """Whether it ran with ``resume="automatic"``."""

    not_kept: str = ""
    """Why that could not keep it, one sentence; empty: it did, or was not asked to."""

    runs: tuple[str, str]
    """Names of the unbroken and of the interrupted run."""

    @property
    def was_killed(self) -> bool:
        """Whether it was killed before its last step; False: nothing is proved."""
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
            said = f"Not equal. {found.sentence} This would mend it: {found.mend}."
            if found.went_on:
                said += (
                    " Model and optimizer did go on from its checkpoint, bit for bit: where an "
                    "epoch may be drawn anew, nothing is missing so far."
                )
            return f"{said}{self._not_automatic}"
        if not self.was_killed:
            return (
                f"It was not killed in time: it had made its last step before, and in its "
                f"{self.steps} steps nothing differs. Let it take more steps, or slower ones, "
                "or fewer --interruptions."
            )
        times = len(self.interrupted_at)
        often = "once" if times == 1 else f"{times} times"
        bits = f"it trained the bits of the unbroken run in each of {self.steps} steps."
        if self.began_anew:
            said = (
                f"It does not go on: killed {often}, it began anew each time, and then {bits}"
            )
            mend = " Call session.checkpoint(model=model, optimizer=optimizer)"
            if self.is_automatic:
                return f"{said}{self._not_automatic}{mend}."
            return (
                f"{said} It keeps no checkpoint that it goes on from, or had none "
                f"yet.{mend}; a plain loop without a session may do with --resume automatic."
            )
        return f"Equal: killed {often}, {bits}{self._beside}"

    @property
    def _not_automatic(self) -> str:
        """Why ``resume="automatic"`` did not keep it; empty: it did, or was not asked to."""
        why = f' resume="automatic" does not keep it: {self.not_kept}'
        return why if self.is_automatic and self.not_kept else ""

    @property
    def _beside(self) -> str:
        """What else is to be said of a training that is equal; empty: nothing."""
        said = ""
        if self.other_random_from is not None:
            said = (
                f" Random numbers are others from step {self.other_random_from} on, which "
                "made no difference here; save torch.get_rng_state() where one is drawn later."
            )
        if not self.unlike_files:
            return said
        verb = "differ" if self.unlike_files[1:] else "differs"
        return (
            f"{said} Beside the training: {_listed(self.unlike_files)} {verb}. What comes out "
            "there depends on more than the steps: on the time of day, or on a variable of the "
            "script (a best loss, a mean), which its checkpoint would have to keep, as "
            'session.checkpoint(model=model, own={"best": best}) does.'
        )

    def __str__(self) -> str:
        return self.verdict


def _listed(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"
