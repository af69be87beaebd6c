"""What a session offers a script that is to go on after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from smtc_lab.dataservice.rank_batches import RankBatches
from smtc_lab.errors import EntryPointError
from smtc_lab.instance.opt_ml import SESSION_CHECKPOINTS
from smtc_lab.parallel.group import group_size
from smtc_lab.runtime.ranks.shared_training import SharedTraining
from smtc_lab.runtime.resuming.interval import SaveInterval
from smtc_lab.runtime.resuming.trainer_place import TrainerPlace
from smtc_lab.runtime.resuming.training import KeptTraining

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.runtime.instance_runtime import InstanceRuntime
    from smtc_lab.runtime.resuming.best import Better


class ResumableTraining(SharedTraining):
    """The part of a ``Session`` that outlives its process."""

    def __init__(self, runtime: InstanceRuntime) -> None:
        super().__init__(runtime)
        self._kept: KeptTraining | None = None

    def checkpoint(
        self,
        *,
        every_steps: int | Literal["auto"] | None = None,
        every_minutes: float | None = None,
        keep_last: int = 3,
        keep_best: int = 0,
        best: Better = "lowest",
        **parts: Any,  # noqa: ANN401  whatever has a state
    ) -> KeptTraining:
        """Keep the whole state of the training, and go on from where an attempt was killed.

        ::

            session.checkpoint(model=model, optimizer=optimizer, scheduler=scheduler)
            for batch in session.steps(loader, epochs=10):
                ...

        To be called once, after ``prepare`` and before the first of ``session.steps``. Where a
        checkpoint of an earlier attempt lies in the job's checkpoint folder the parts get their
        state back, ``session.steps`` goes on with the batch after it, and random numbers of
        Python, numpy and torch go on as they were: the attempts together train bit for bit
        what one process would. A pass of ``session.steps`` that an earlier attempt ended
        yields nothing.

        A save copies the state aside and is written while training goes on. Without a word on
        it, it comes as often as pays (Young's interval for the mean time between interruptions
        of the job's market, or for one an hour), where it takes at most 3.5 % of the time.
        Script and data have to be the same as before.

        Args:
            every_steps: Save after so many steps; ``"auto"`` or None: as often as pays.
            every_minutes: Save after about so many minutes.
            keep_last: How many checkpoints are kept, at least 1; of several trainers two more.
            keep_best: How many of those that ``kept.score(value)`` found the best stay besides.
            best: Which score is better: ``"lowest"``, as of a loss, or ``"greatest"``.
            **parts: Models, optimizers, schedulers, scalers, by name: whatever has
                ``state_dict`` and ``load_state_dict``; or a dict with values of your own,
                which is filled with what it held.

        Raises:
            EntryPointError: A part has no state, or holds what could not be loaded again; a
                checkpoint lacks a part; the script has started its ranks by itself; or it was
                called before.
        """
        if self._kept is not None:
            raise EntryPointError(
                "session.checkpoint() was called twice. Give it all parts at once, before the "
                "first step."
            )
        interval = SaveInterval.checked(
            steps=every_steps, minutes=every_minutes, keep=keep_last
        )
        context = self._context
        _refuse_own_ranks(context.world_size)
        with self._runtime.restoring():
            self._kept = KeptTraining(
                parts,
                trainers=self._trainers,
                place=TrainerPlace(
                    folder=self._checkpoints(of_all=True) / SESSION_CHECKPOINTS,
                    rank=context.rank,
                    world_size=context.world_size,
                    attempt=self._runtime.attempt,
                    global_batch=self._global_batch,
                ),
                interval=interval,
                keep_last=keep_last,
                keep_best=keep_best,
                best=best,
                say=self._runtime.event,
                flush=self._runtime.flush,
            )
        self._runtime.wait_before_close(self._kept.close)
        done = self._kept.step
        self._runtime.restored_step = lambda: done  # whatever was read on the way
        if done:
            self._runtime.go_on_from(done)
        elif self._runtime.attempt > 1 and not self._runtime.restored_step():
            whose = " for all trainers" if context.world_size > 1 else ""
            self._runtime.event(
                "attempt",
                f"No checkpoint was whole yet{whose}: this begins with the first step.",
            )
            self._runtime.go_on_from(0)
        return self._kept

    def _next_pass(self, loader: Any) -> Iterable[Any]:  # noqa: ANN401  any dataloader
        """Return the batches of the next pass that no earlier attempt has trained with."""
        batches: Iterable[Any] = loader
        if self._kept is not None:
            with self._runtime.restoring():
                batches = self._kept.batches(loader)
            # what stands behind a pass that was trained before was logged before
            self._runtime.is_restoring = self._kept.is_ahead
        return batches

    def _step_ended(self) -> None:
        if self._kept is not None:
            self._kept.step_ended(is_last=self._runtime.timer.is_done)

    def _pass_ended(self) -> None:
        if self._kept is not None:
            self._kept.pass_ended()

    @property
    def _was_begun_before(self) -> bool:
        """Whether an earlier attempt began the pass that this one is in."""
        return self._kept is not None and self._kept.was_begun_before

    def _global_batch(self, loader: Any) -> int | None:  # noqa: ANN401  any dataloader
        if isinstance(loader.batch_sampler, RankBatches):
            return loader.batch_sampler.global_batch_size
        size = loader.batch_size
        return None if size is None else int(size) * self._batches[1]


def _refuse_own_ranks(world_size: int) -> None:
    """Refuse ranks that nobody here can tell apart: all of them would be rank 0."""
    joined = group_size()
    if joined > 1 and joined != world_size:
        raise EntryPointError(
            f"The script has started {joined} ranks by itself, where the job has {world_size}: "
            "session.checkpoint() cannot tell them apart. Let the job start them "
            f'(distribution={{"data": {joined}}}), or save by your own code.'
        )
