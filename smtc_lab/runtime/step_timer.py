"""Times the steps of a training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.records import StepRecord

if TYPE_CHECKING:
    from smtc_lab.instance.context import InstanceContext
    from smtc_lab.store.tables import RecordSink


class StepTimer:
    """Turns "asked for a batch", "got it", "optimizer stepped" into step records.

    One record costs the trainer at most 5 microseconds (``notebooks/bench_overhead.ipynb``).
    Where an emulated device is declared, the end of a step waits until the device would have
    been ready: its time runs from the moment the batch is there. In a script that ``auto`` has
    started anew, steps are numbered on from those that it took before.
    """

    on_step: Callable[[int, float], None] | None = None
    """Called after each step with its number and its seconds beyond the wait for data; None:
    nobody listens."""

    def __init__(
        self, context: InstanceContext, writer: RecordSink | None, *, first_step: int = 0
    ) -> None:
        self._context = context
        self._writer = writer
        self._device_step_time_s = context.device_step_time_s
        self._max_steps = context.max_steps
        self.first_step = first_step
        """Number of the first step of this process."""

        self._begin_s: float | None = None
        self._asked_s = 0.0
        self._got_s = 0.0
        self._data_wait_s = 0.0
        self._num_samples: int | None = None
        self._unopened: tuple[float | None, float, int | None] = (None, 0.0, None)
        self._is_ready = False
        self.num_steps = 0
        """Steps that have ended in this process."""

        self.synchronized = True
        """Whether a step's end waits for the device; a CPU always does."""

    @property
    def is_done(self) -> bool:
        """Whether the job's ``max_steps`` is reached."""
        return self._max_steps is not None and self.num_steps >= self._max_steps

    def ask(self) -> None:
        """Say that the loop asks for a batch. Begins a step, if none is open."""
        if not self._is_ready:
            self._say_ready()
        self._asked_s = time.perf_counter()
        if self._begin_s is None:
            self._begin_s = self._asked_s

    def got(self, num_samples: int | None) -> None:
        """Say that the batch is there.

        Args:
            num_samples: Samples in it; None: not known.
        """
        self._got_s = time.perf_counter()
        self._data_wait_s += self._got_s - self._asked_s
        if num_samples is not None:
            self._num_samples = (self._num_samples or 0) + num_samples

    def drop(self) -> None:
        """Say that the batches ran out: what was open is no step.

        Only an optimizer step that follows without another batch (the rest of a gradient
        accumulation) takes the batches that were open.
        """
        if self._begin_s is not None and self._got_s >= self._begin_s:
            self._unopened = (self._begin_s, self._data_wait_s, self._num_samples)
        self._begin_s = None
        self._data_wait_s = 0.0
        self._num_samples = None

    def end(self) -> None:
        """Say that the optimizer has stepped: the step ends and is recorded.

        Without a batch of its own (several steps for one batch, or no dataloader at all) it
        began where the last one ended.
        """
        if not self._is_ready:
            self._say_ready()
        begin_s = self._begin_s
        if begin_s is None:
            begin_s, self._data_wait_s, self._num_samples = self._unopened
            begin_s = time.perf_counter() if begin_s is None else begin_s
        device_s = self._device_step_time_s
        if device_s is not None:
            left_s = max(begin_s, self._got_s) + device_s - time.perf_counter()
            if left_s > 0:
                time.sleep(left_s)
        now_s = time.perf_counter()
        step = self.first_step + self.num_steps
        if self._writer is not None:
            self._writer.append_values(
                StepRecord,
                (  # in the order of its fields
                    step,
                    time.time(),
                    now_s - begin_s,
                    self._data_wait_s,
                    device_s,
                    self._num_samples,
                    self.synchronized,
                ),
            )
        if self.on_step is not None:
            self.on_step(step, now_s - begin_s - self._data_wait_s)
        self.num_steps += 1
        self._data_wait_s = 0.0
        self._num_samples = None
        self._begin_s = None
        self._unopened = (now_s, 0.0, None)

    def _say_ready(self) -> None:
        self._is_ready = True
        self._context.say_ready()


def num_samples_of(batch: object) -> int | None:
    """Return the samples in a batch: the length of its first tensor; None: cannot tell."""
    pending = [batch]
    for _ in range(16):  # a tensor lies near the top of any ordinary batch
        if not pending:
            return None
        item = pending.pop()
        shape = getattr(item, "shape", None)
        if shape is not None:
            return int(shape[0]) if len(shape) else None
        if isinstance(item, Mapping):
            pending.extend(reversed(list(item.values())[:8]))
        elif isinstance(item, (list, tuple)):
            pending.extend(reversed(item[:8]))
    return None
