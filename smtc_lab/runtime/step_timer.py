"""Times the steps of a training loop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.mesh import counts_samples
from smtc_lab.machine.quota.vcpu import own_vcpu
from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.runtime.drawn import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.instance.context import InstanceContext
    from smtc_lab.store.tables import RecordSink

NO_COMMUNICATION: tuple[float | None, ...] = (None,) * len(COMMUNICATION_FIELDS)
_Taken = tuple[float | None, float, int | None]
"""Begin, data wait and samples of a step; begin None: now."""


class StepTimer:
    """Turns "asked for a batch", "got it", "optimizer stepped" into step records.

    Batches count for the step that follows them, but for those of an evaluation: drawn while
    gradients were off, or several in a row from one source before training drew from another
    and no backward pass came between.

    One record costs the trainer at most 5 microseconds (``notebooks/bench_overhead.ipynb``).
    Where an emulated device is declared, the end of a step waits until the device would have
    been ready: its time runs from the moment the batch is there.
    """

    clock: Any = time
    """Tells the time, and passes it: the module, or what answers as it does."""

    on_step: Callable[[int, float], None] | None = None
    """Called after each step with its number and its seconds beyond the wait for data."""

    on_first_step: Callable[[], None] | None = None
    """Called after the first step of this process; None: nobody listens."""

    on_ready: Callable[[], None] | None = None
    """Called before it, and then says that the work begins; None: it only says so."""

    communication: Callable[[int], tuple[float | None, ...]] | None = None
    """Called with each step's number; returns ``COMMUNICATION_FIELDS``. None: unknown."""

    def __init__(self, context: InstanceContext, writer: RecordSink | None) -> None:
        self._context = context
        self.writer = writer
        self.device_step_time_s = context.device_step_time_s
        """Time that the emulated device takes for a step; in a pipeline, for its stages."""

        self.max_steps = context.max_steps
        self.first_step = 0
        """Number of the first step of this process."""

        layout = context.distribution
        self._counts_samples = layout is None or counts_samples(context.rank or 0, layout)
        """Of trainers that take the same samples one counts them."""

        self._drawn: dict[int, Drawn] = {}
        self._asking = Drawn(0, 0.0, is_for_training=True)
        self._asked_s = 0.0
        self.got_s = 0.0
        """When the newest batch was there; later by what an emulated device waits for since."""
        self._unopened: _Taken = (None, 0.0, None)
        self._marked: tuple[_Taken, float, float] | None = None
        self._is_ready = False
        self._progress = context.progress()
        self._vcpu = own_vcpu(is_counted=True)
        """What loading in this process is held to; None: it takes what it takes."""
        self._held: list[tuple[object, ...]] | None = None
        self.num_steps = 0
        """Steps that have ended in this process."""

        self.synchronized = True
        """Whether a step's end waits for the device; a CPU always does."""

    @property
    def is_done(self) -> bool:
        """Whether the job's ``max_steps`` is reached, with the steps of earlier attempts."""
        done = self.first_step + self.num_steps
        return self.max_steps is not None and done >= self.max_steps

    @property
    def has_batch(self) -> bool:
        """Whether a batch to train on was drawn since the last step."""
        return any(one.batches and one.is_for_training for one in list(self._drawn.values()))

    @property
    def current_step(self) -> int:
        """Number of the step that has its batch; of the last one where none has, at least 0."""
        step = self.first_step + self.num_steps
        return step if self.has_batch else max(0, step - 1)

    @property
    def device_step(self) -> tuple[float, float] | None:
        """When the emulated device began its step, and for how long; None: there is none."""
        began_s, takes_s = max(self.got_s, self._unopened[0] or 0.0), self.device_step_time_s
        return None if takes_s is None else (began_s, takes_s)

    def ask(self, source: int = 0, *, is_for_training: bool = True) -> None:
        """Say that the loop asks for a batch; begins a step, if none is open.

        Args:
            source: Tells apart iterators that are drawn from in turns.
            is_for_training: Whether gradients are on.
        """
        if not self._is_ready:
            self._say_ready()
        if self._progress is not None:
            self._progress.gave_sign()
        if self._vcpu is not None:
            self._vcpu.begin()
        self._asked_s = self.clock.perf_counter()
        if (drawn := self._drawn.get(source)) is None:
            drawn = Drawn(source, self._asked_s, is_for_training=is_for_training)
            self._drawn[source] = drawn
        if source != self._asking.source:
            self._leave_out_evaluation(drawn)
        self._asking = drawn

    def _leave_out_evaluation(self, drawn: Drawn) -> None:
        """Forget what was drawn from other sources and not to be trained on."""
        for source, other in list(self._drawn.items()):
            if other is drawn:
                continue
            if drawn.is_for_training and (other.in_a_row > 1 or not other.is_for_training):
                self._drawn.pop(source, None)
            other.in_a_row = 0

    def got(self, num_samples: int | None) -> None:
        """Say that the batch is there.

        Args:
            num_samples: Samples in it; None: not known.
        """
        if self._vcpu is not None:
            self._vcpu.wait()
        self.got_s = self.clock.perf_counter()
        drawn, asked_s = self._asking, self._asked_s
        if drawn.source not in self._drawn:  # a step ended since, in another thread
            asked_s = max(asked_s, self._unopened[0] or asked_s)
            drawn = Drawn(drawn.source, asked_s, is_for_training=drawn.is_for_training)
            self._drawn[drawn.source] = self._asking = drawn
        drawn.wait_s += self.got_s - asked_s
        if num_samples is not None:
            counted = num_samples if self._counts_samples else 0
            drawn.num_samples = (drawn.num_samples or 0) + counted
        drawn.in_a_row += 1
        drawn.batches += 1  # last: from now on it can be taken

    def went_backward(self) -> None:
        """Say that gradients were computed: the batches drawn so far are trained on."""
        for drawn in list(self._drawn.values()):
            drawn.in_a_row = 0

    def drop(self, source: int = 0) -> None:
        """Say that the batches of a source ran out: what was drawn from it is no step.

        Only an optimizer step that follows without another batch (the rest of a gradient
        accumulation) takes them.
        """
        one = self._drawn.pop(source, None)
        if one is not None and one.batches and one.is_for_training:
            self._unopened = (one.begin_s, one.wait_s, one.num_samples)

    def end(self) -> None:
        """Say that the optimizer has stepped: the step ends and is recorded.

        Without a batch of its own (several steps for one batch, or no dataloader at all) it
        began where the last one ended.
        """
        if not self._is_ready:
            self._say_ready()
        taken = self._take()
        if self._marked is not None:
            taken = self._with_marked(*taken)
        begin_s, data_wait_s, num_samples = taken
        begin_s = self.clock.perf_counter() if begin_s is None else begin_s
        if (device_s := self.device_step_time_s) is not None:
            left_s = max(begin_s, self.got_s) + device_s - self.clock.perf_counter()
            self.clock.sleep(max(0.0, left_s))
        now_s = self.clock.perf_counter()
        self._record(self.clock.time(), now_s - begin_s, data_wait_s, num_samples)
        self._unopened = (now_s, 0.0, None)

    def mark(self) -> None:
        """Say that what was drawn may have been a step, which only the future tells.

        If it was, ``end_marked`` comes next; if not, ``end``, whose step it belongs to.
        """
        taken, now_s = self._take(), self.clock.perf_counter()
        self._marked = (taken, max(taken[0] or now_s, self.got_s), now_s)
        self._unopened = (now_s, 0.0, None)

    def end_marked(self) -> None:
        """Say that what was marked was a step. An emulated device was not waited for."""
        if self._marked is None:
            return
        (begin_s, data_wait_s, num_samples), got_s, end_s = self._marked
        self._marked = None
        ago_s = self.clock.perf_counter() - end_s
        end_s = max(end_s, got_s + (self.device_step_time_s or 0.0))
        step_time_s = 0.0 if begin_s is None else end_s - begin_s
        self._record(self.clock.time() - ago_s, step_time_s, data_wait_s, num_samples)

    def _with_marked(
        self, begin_s: float | None, data_wait_s: float, num_samples: int | None
    ) -> _Taken:
        """Return a step together with what was marked, and was none."""
        assert self._marked is not None  # noqa: S101  the caller has looked
        (marked_s, marked_wait_s, more), _, _ = self._marked
        self._marked = None
        counts = [count for count in (num_samples, more) if count is not None]
        begin_s = begin_s if marked_s is None else marked_s
        return begin_s, data_wait_s + marked_wait_s, sum(counts) if counts else None

    def _record(
        self, end_time_s: float, step_time_s: float, data_wait_s: float, num_samples: int | None
    ) -> None:
        step = self.first_step + self.num_steps
        values = (  # in the order of the record's fields
            step,
            end_time_s,
            step_time_s,
            data_wait_s,
            self.device_step_time_s,
            num_samples,
            self.synchronized,
            *(NO_COMMUNICATION if self.communication is None else self.communication(step)),
        )
        if self._held is not None:
            self._held.append(values)
        elif self.writer is not None:
            self.writer.append_values(StepRecord, values)
        if self.on_step is not None:
            self.on_step(step, step_time_s - data_wait_s)
        self.num_steps += 1
        if self.num_steps == 1 and self.on_first_step is not None:
            self.on_first_step()
        if self._progress is not None:
            self._progress.stepped()
        if self.is_done:
            self._context.say_done()

    def hold(self) -> None:
        """Keep steps back from now on: they may be none."""
        self._held = []

    def release(self) -> None:
        """Record the steps that were kept back, and those to come."""
        held, self._held = self._held or (), None
        if self.writer is not None:
            for values in held:
                self.writer.append_values(StepRecord, values)

    def forget(self) -> None:
        """Take the steps that were kept back for none, and record those to come."""
        if self._held:
            self.num_steps -= len(self._held)
            self._unopened = (None, 0.0, None)
        self._held = None

    def _take(self) -> _Taken:
        """Return begin, data wait and samples of the step that ends now."""
        # another thread may still wait for its batch
        ready = [source for source, one in list(self._drawn.items()) if one.batches]
        taken = [self._drawn.pop(source) for source in ready]
        if len(taken) == 1:
            return taken[0].begin_s, taken[0].wait_s, taken[0].num_samples
        drawn = [one for one in taken if one.is_for_training] or taken
        if not drawn:
            return self._unopened
        counts = [one.num_samples for one in drawn if one.num_samples is not None]
        return (
            min(one.begin_s for one in drawn),
            sum(one.wait_s for one in drawn),
            sum(counts) if counts else None,
        )

    def _say_ready(self) -> None:
        self._is_ready = True
        (self.on_ready or self._context.say_ready)()
