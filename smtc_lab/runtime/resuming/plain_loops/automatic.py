"""``resume="automatic"``: a plain loop that saves nothing goes on after an interruption.

The script runs again from its top. Passes over its dataloader that it had trained are gone
through with one batch each, so that the code round them runs. Where the pass begins that was
under way everything is set back to the checkpoint, and the loop gets the batch after. What the
script keeps in variables of its own is not seen.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.data import dataloader as torch_dataloader

from smtc_lab.dataservice.iterating.iterators import IteratedLoader
from smtc_lab.errors import EntryPointError
from smtc_lab.instance.opt_ml import AUTOMATIC_CHECKPOINTS, CHECKPOINTS
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.instance.variables import RESUME_EVERY_STEPS_SETTING
from smtc_lab.metrics.records.attempts import GOES_ON, NOT_KEPT
from smtc_lab.parallel.trainers import Trainers
from smtc_lab.parallel.untraced import untraced
from smtc_lab.runtime.resuming.interval import SaveInterval
from smtc_lab.runtime.resuming.plain_loops.script_parts import ScriptParts
from smtc_lab.runtime.resuming.plain_loops.script_pass import ScriptPass
from smtc_lab.runtime.resuming.trainer_place import TrainerPlace
from smtc_lab.runtime.resuming.training import KeptTraining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_KEEP_LAST = 2


class AutomaticResume:
    """Follows the passes of a script over its dataloaders, and its steps."""

    def __init__(self, runtime: InstanceRuntime, restored_step: Callable[[], int]) -> None:
        """Begin to follow.

        Args:
            runtime: Of this process.
            restored_step: Returns from which step the script goes on by itself; 0: it does not.
        """
        self._runtime, self._restored_step = runtime, restored_step
        self._parts = ScriptParts()
        self._kept: KeptTraining | None = None
        self._is_off = False
        self._is_inside = False
        self._number = -1
        self._pass: Callable[[], ScriptPass | None] = lambda: None
        self._first_batches: weakref.WeakKeyDictionary[Any, list[Any]] = (
            weakref.WeakKeyDictionary()
        )
        self._new_steps = 0
        self._steps_without_pass = 0
        self._is_by_hand = self._has_cautioned = False
        runtime.timer.on_ready = None  # it is told from which step, when that is known
        runtime.timer.on_step = self._stepped
        register_optimizer_step_pre_hook(untraced(self._will_step))
        self._plain_iter = plain = torch_dataloader.DataLoader.__iter__

        def __iter__(loader: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
            is_ours = not (self._is_off or self._is_inside or runtime.is_timed_by_session)
            return self._begin(loader) if is_ours else plain(loader)

        torch_dataloader.DataLoader.__iter__ = __iter__  # type: ignore[method-assign]

    def will_ask(self, asking: ScriptPass) -> None:
        """Take the batch before for done with; save where that is due."""
        steps, self._new_steps = self._new_steps, 0
        if self._kept is None or self._is_off or not steps:
            return
        if asking.num_batches == 0:  # what was left of the pass before
            self._kept.step += steps
            return
        self._kept.step += steps - 1
        try:
            self._kept.step_ended(is_last=False)
        except EntryPointError as error:
            self._refuse(str(error))

    def drawn_by_hand(self) -> None:
        """Say that the script takes batches with ``next`` and no loop."""
        self._is_by_hand = True

    def _begin(self, loader: Any) -> Any:  # noqa: ANN401  any dataloader
        """Return the batches of a pass that the script begins."""
        now, trains = self._pass(), torch.is_grad_enabled()
        if now is not None and not now.has_ended:  # one within another
            if trains and not now.num_batches:
                self._refuse("It draws from two dataloaders at once.")
            made = self._own_iter(loader)
            return ScriptPass(made, self, is_counted=False) if trains else made
        if not trains:
            is_over = self._kept is not None and self._runtime.is_restoring
            return self._one_batch(loader) if is_over else self._own_iter(loader)
        if not self._parts.has_optimizer or (self._kept is None and not self._keep()):
            return self._own_iter(loader)
        self._number += 1
        self._is_by_hand = False
        begun = ScriptPass(self._batches(loader), self, is_counted=True)
        self._pass = weakref.ref(begun)
        return begun

    def _batches(self, loader: Any) -> Iterator[Any]:  # noqa: ANN401  any dataloader
        """Return what is left of a pass that is counted; one batch of one that was trained."""
        assert self._kept is not None  # noqa: S101  the caller has made it
        if self._kept.ends_with(loader):
            return self._ended(loader, self._kept)
        left = self._left(loader, self._kept)
        if left != ():
            return iter(left)
        self._caution(loader)
        self._runtime.is_restoring = True
        is_before = self._number < self._parts.first_trained
        return self._own_iter(loader) if is_before else self._one_batch(loader)

    def _left(self, loader: Any, kept: KeptTraining) -> Any:  # noqa: ANN401  any dataloader
        self._parts.is_armed = True
        with self._inside(), self._runtime.restoring():
            return kept.batches(loader)

    def _ended(self, loader: Any, kept: KeptTraining) -> Iterator[Any]:  # noqa: ANN401  as above
        """Give one batch, so that the loop's variables are there, and set back what it did."""
        self._runtime.is_restoring = True
        yield from self._one_batch(loader)
        yield from self._left(loader, kept)

    def _caution(self, loader: Any) -> None:  # noqa: ANN401  any dataloader
        """Say once what the data workers of a loader cannot be given back."""
        persists = loader.num_workers > 0 and loader.persistent_workers
        if persists and not isinstance(loader, IteratedLoader) and not self._has_cautioned:
            self._has_cautioned = True
            self._runtime.event(
                "warning",
                "Data workers that persist over epochs draw their random numbers on and on, so "
                "random transforms come out others after an interruption. Leave "
                "persistent_workers out, or make transforms without random numbers.",
            )

    def _one_batch(self, loader: Any) -> Iterator[Any]:  # noqa: ANN401  any dataloader
        """Return one batch, the same each time: all of it is set back."""
        kept = self._first_batches
        if loader not in kept:
            kept[loader] = [batch for batch, _ in zip(self._own_iter(loader), (0,))]  # noqa: B905  one of many
        return iter(kept[loader])

    def _own_iter(self, loader: Any) -> Iterator[Any]:  # noqa: ANN401  any dataloader
        with self._inside():
            made: Iterator[Any] = self._plain_iter(loader)
        return made

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._is_inside = True
        try:
            yield
        finally:
            self._is_inside = False

    def _will_step(self, *_: object) -> None:
        if self._kept is None and not self._is_off and not self._runtime.is_timed_by_session:
            self._refuse("It takes a step before a batch of a DataLoader.")

    def _stepped(self, *_: object) -> None:
        """Count a step of the script's own."""
        if self._is_off or self._runtime.is_timed_by_session:
            return
        now = self._pass()
        is_within = now is not None and not now.has_ended
        self._steps_without_pass = 0 if is_within else self._steps_without_pass + 1
        if self._is_by_hand:
            self._refuse("It takes batches with next(...), and counts them by itself.")
        elif self._steps_without_pass > 1:  # one may be what is left of an accumulation
            self._refuse("It takes steps outside a loop over a DataLoader.")
        self._new_steps += 1
        if self._parts.first_trained < 0:
            self._parts.first_trained = self._number

    def _keep(self) -> bool:
        """Look for a checkpoint; return whether the training can be kept."""
        runtime = self._runtime
        if runtime.context.world_size > 1:
            return self._refuse(f"There are {runtime.context.world_size} trainers.")
        if step := self._restored_step():
            return self._refuse(
                "It need not: the script takes up a state that it saved by itself, and goes on "
                f"after step {step}."
            )
        every = os.environ.get(RESUME_EVERY_STEPS_SETTING)
        base = Path(os.environ.get(BASE_FOLDER_VARIABLE, "."), CHECKPOINTS)
        place = TrainerPlace(
            folder=base / AUTOMATIC_CHECKPOINTS,
            rank=0,
            world_size=1,
            attempt=runtime.attempt,
            global_batch=lambda loader: loader.batch_size,
        )
        self._folder, self._on_term = place.own_folder, signal.getsignal(signal.SIGTERM)
        self._kept = KeptTraining(
            {"script": self._parts},
            trainers=Trainers(world_size=1, layout=None, is_bf16=False, say=runtime.event),
            place=place,
            interval=SaveInterval.checked(
                steps=int(every) if every else None, minutes=None, keep=_KEEP_LAST
            ),
            keep_last=_KEEP_LAST,
            say=runtime.event,
            flush=runtime.flush,
        )
        runtime.wait_before_close(self._kept.close)
        self._go_on(self._kept.step)
        return True

    def _go_on(self, step: int) -> None:
        """Number the steps to come from there."""
        runtime = self._runtime
        if step or runtime.attempt > 1:
            runtime.go_on_from(step)
        if not step and runtime.attempt > 1:
            runtime.event(
                "warning", f"Attempt {runtime.attempt} begins with the first step again."
            )
        if runtime.timer.is_done:
            runtime.end_script()

    def _refuse(self, why: str) -> bool:
        """Keep nothing from now on, and say why; what was kept is no longer right."""
        self._is_off = True
        if self._kept is not None:
            self._kept.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, self._on_term)  # no step saves on it any more
        after = (
            f"{GOES_ON}, and after an interruption it begins anew, unless the script saves and "
            "loads by itself. Call session.checkpoint(...), which keeps it."
        )
        if step := self._restored_step():
            after = f"{GOES_ON}."
        self._runtime.event("warning", f"{NOT_KEPT}{why} {after}")
        if self._kept is None:
            self._go_on(step)
        return False
