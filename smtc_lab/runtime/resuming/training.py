"""The state of a training that is kept, and given back to the attempt that goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.pass_place import PassPlace
from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.checkpoint import complete_steps, read_checkpoint
from smtc_lab.runtime.plain_values import plain
from smtc_lab.runtime.resuming.agreement import of_rank_0
from smtc_lab.runtime.resuming.best import BestCheckpoints
from smtc_lab.runtime.resuming.claim import claim_folder
from smtc_lab.runtime.resuming.notice import Notice
from smtc_lab.runtime.resuming.parts import KeptParts
from smtc_lab.runtime.resuming.random_numbers import random_numbers, set_random_numbers
from smtc_lab.runtime.resuming.trainer_place import newest_checkpoint, other_torch
from smtc_lab.runtime.resuming.writer import CheckpointWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from smtc_lab.parallel.trainers import Trainers
    from smtc_lab.runtime.resuming.best import Better
    from smtc_lab.runtime.resuming.interval import SaveInterval
    from smtc_lab.runtime.resuming.trainer_place import TrainerPlace

_SPARE_OF_SEVERAL = 2  # one trainer may be a save ahead of another, and that save half written


class KeptTraining:
    """A training whose state outlives its process. Made by ``Session.checkpoint``."""

    def __init__(  # noqa: PLR0913  options by name
        self,
        parts: Mapping[str, Any],
        *,
        trainers: Trainers,
        place: TrainerPlace,
        interval: SaveInterval,
        keep_last: int,
        keep_best: int = 0,
        best: Better = "lowest",
        say: Callable[[str, str], None],
        flush: Callable[[], None] = lambda: None,
    ) -> None:
        """Look for a checkpoint, and give the parts what it holds.

        Raises:
            EntryPointError: A part has no state, a checkpoint lacks a part, has another
                format, or cannot be loaded safely.
        """
        self._parts = KeptParts(
            parts, trainers=trainers, rank=place.rank, world_size=place.world_size
        )
        self._own, self._interval, self._say = place, interval, say
        claim_folder(place.own_folder, say)
        spare = _SPARE_OF_SEVERAL if place.world_size > 1 else 0
        self._best = BestCheckpoints(place.own_folder, count=keep_best, better=best)
        self._writer = CheckpointWriter(
            place.own_folder,
            keep_last=keep_last + spare,
            best=self._best.steps,
            say=say,
            flush=flush,
        )
        self._passes = 0
        self._loader: Any = None
        self._place = PassPlace()
        self._stall_s: float | None = None
        self._known_step_s: float | None = None
        self._began_s: float | None = None
        self._steps_since = 0
        found = newest_checkpoint(place, self._parts.own, say)
        self.step = 0 if found is None else int(found["step"])
        """Steps that have ended, over all attempts."""

        self.resumed_step = self.step
        """Steps that earlier attempts had ended; 0: this is the first one."""

        self.was_begun_before = False
        """Whether an earlier attempt began the pass that this one is in."""

        self._saved_step = self.step
        self._found = found
        if found is not None:
            self._restore(found)
            say("checkpoint", f"Goes on after step {self.step} of an earlier attempt.")
            if caution := other_torch(found):
                say("warning", caution)
        self._due = self.step + self._next_steps(None)
        self._notice = Notice(
            world_size=place.world_size,
            has_news=lambda: self.step > self._saved_step or self._writer.is_writing,
        )

    @property
    def is_ahead(self) -> bool:
        """Whether the script has yet to come to the pass that goes on."""
        return self._found is not None

    def epochs(self, num: int) -> range:
        """Return the epochs that are left: ``for epoch in kept.epochs(10)``.

        Those that earlier attempts ended are left out, with what stands round their passes:
        evaluations, logs, whatever needs a batch's variables. Of ``range(10)`` they are run,
        with no batch.

        Args:
            num: Epochs in all, of one pass of ``session.steps`` each.

        Raises:
            EntryPointError: A pass has begun.
        """
        if self._passes:
            raise EntryPointError(
                "kept.epochs() was called after a pass of session.steps() had begun. Loop over "
                "it once: for epoch in kept.epochs(10)."
            )
        if self._found is not None:
            self._passes = min(int(self._found["pass"]), num)
        return range(self._passes, num)

    def batches(self, loader: Any) -> Iterable[Any]:  # noqa: ANN401  any dataloader
        """Return what earlier attempts have left of the next pass over a loader.

        With the pass that goes on everything is set back to its checkpoint: whatever the
        script did since, between passes that were trained before, was done before too.
        """
        number, self._passes = self._passes, self._passes + 1
        self._loader, self._place = loader, PassPlace()
        self._began_s, found = None, self._found
        self.was_begun_before = found is not None
        if found is None:
            return self._place.begin(loader, None, lambda: iter(loader))
        if number < found["pass"]:
            return ()
        self._found = None
        self._restore(found)
        batches = self._place.begin(loader, self._loader_place(found), lambda: iter(loader))
        if found["random"] is not None:
            set_random_numbers(found["random"])
        return batches

    def ends_with(self, loader: Any) -> bool:  # noqa: ANN401  any dataloader
        """Return whether the next pass goes on behind its last batch; False: not known."""
        found = self._found
        if found is None or self._passes != found["pass"] or found["loader"] is None:
            return False
        try:
            return bool(found["loader"]["batches"] >= len(loader))
        except TypeError:
            return False

    def step_ended(self, *, is_last: bool) -> None:
        """Count a step, and save where that is due: after the last one of the job, too.

        On SIGTERM it saves, waits for what is written, and ends the process.
        """
        self.step += 1
        self._steps_since += 1
        if self._began_s is None:  # the first one of a pass takes what others do not
            self._began_s, self._steps_since = time.perf_counter(), 0
        is_noticed = self._notice.is_due(self.step, self._step_s)
        if self.step >= self._due or is_last or is_noticed:
            self.save()
        if is_noticed and not is_last:
            self.close()
            self._notice.end()

    def pass_ended(self) -> None:
        """Save at the end of a pass, where a score may follow."""
        if self._best.count and self._found is None:
            self.save()

    def score(self, value: float) -> bool:
        """Say how good the model is now, after a pass; return whether it is the best so far.

        The checkpoint of the end of the pass stays while it is one of the ``keep_best``. All
        trainers call this; the value of rank 0 counts. Of a pass that an earlier attempt has
        ended nothing is kept anew.

        Args:
            value: A loss, an accuracy; not NaN.

        Raises:
            EntryPointError: No best ones are kept, no pass has ended here, or it is no number.
        """
        if self._found is not None:  # the model is that of a later pass
            return False
        if self.step != self._saved_step:
            raise EntryPointError(
                f"kept.score() was called after step {self.step}, in the middle of a pass. "
                "Call it when a pass over session.steps() has ended."
            )
        self._writer.wait()
        return self._best.score(self.step, value)

    def restore_best(self) -> int:
        """Give all parts the state of the best checkpoint, and return its step.

        All trainers call this, when training has ended.

        Raises:
            EntryPointError: None has a score, or the best one is damaged.
        """
        self._writer.wait()
        step = of_rank_0(next(iter(self._best.steps()), -1))
        is_there = step in complete_steps(self._own.own_folder)
        found = read_checkpoint(self._own.own_folder, step) if is_there else None
        if not of_rank_0(int(found is not None)) or found is None:
            raise EntryPointError(
                "There is no best checkpoint to go back to: none has a score, or it is damaged "
                "or gone. Call kept.score(value) after a pass."
            )
        self._restore(found)
        return step

    def save(self) -> None:
        """Begin to write a checkpoint of now; training goes on as soon as it is copied.

        An event says that it is kept, as soon as it would outlive this process. All trainers
        call this after the same step.

        Raises:
            EntryPointError: A part holds something that could not be loaded again.
        """
        if self.step == self._saved_step:
            return
        step_s = self._step_s()
        began_s = time.perf_counter()
        self._stall_s = self._writer.save(self._state(), step=self.step, began_s=began_s)
        self._saved_step = self.step
        self._due = self.step + self._next_steps(step_s)
        self._began_s = None

    def close(self) -> None:
        """Return when the last checkpoint is written."""
        self._writer.wait()

    def _step_s(self) -> float | None:
        if self._began_s is not None and self._steps_since:
            passed_s = time.perf_counter() - self._began_s
            self._known_step_s = passed_s / self._steps_since
        return self._known_step_s

    def _next_steps(self, step_s: float | None) -> int:
        return of_rank_0(
            self._interval.next_steps(
                step_s=step_s,
                stall_s=self._stall_s,
                written_s=self._writer.written_s or None,
            )
        )

    def _state(self) -> dict[str, Any]:
        loader = self._loader
        return {
            **self._own.origin(),
            "step": self.step,
            "pass": max(0, self._passes - 1),
            "global_batch": None if loader is None else self._own.global_batch(loader),
            "loader": None if loader is None else self._place_of(loader),
            "random": random_numbers(),
            "parts": self._parts.state(),
        }

    def _place_of(self, loader: Any) -> Any:  # noqa: ANN401  any dataloader
        """Return where the pass stands, also at its end: the script goes on from there."""
        return plain(self._place.state(loader, of_next=False), "loader")

    def _restore(self, found: Mapping[str, Any]) -> None:
        step, world_size = int(found["step"]), int(found["world_size"])
        self._parts.give(found["parts"], step=step, world_size=world_size)

    def _loader_place(self, found: Mapping[str, Any]) -> Mapping[str, Any] | None:
        place: Mapping[str, Any] | None = found["loader"]
        before, now = found["global_batch"], self._own.global_batch(self._loader)
        if place is None or before == now:
            return place
        self._say(
            "warning",
            f"A step took {before or 'an unknown number of'} samples before and takes "
            f"{now or 'an unknown number'} now, so the place in the epoch is not known: the "
            "epoch is read from its begin.",
        )
        return {**place, "batches": 0}
