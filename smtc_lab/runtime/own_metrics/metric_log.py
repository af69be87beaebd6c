"""Records the metrics of this process, each value with its step and its time."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.records.metric_record import (
    LONGEST_NAME,
    MOST_NAMES,
    MetricRecord,
    kept_value,
)
from smtc_lab.neutral_text import neutral
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.own_metrics.numbers import (
    checked,
    checked_step,
    flat,
    number_of,
    step_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.runtime.instance_runtime import InstanceRuntime


def log(
    values: Mapping[str, Any] | None = None,
    /,
    *,
    step: int | None = None,
    **more: Any,  # noqa: ANN401  numbers, and what holds one
) -> None:
    """Record losses, an accuracy, anything with a name; each trainer records its own.

    ::

        smtc_lab.log(loss=loss, lr=scheduler.get_last_lr()[0])
        smtc_lab.log({"eval/loss": 0.3, "eval": {"accuracy": 0.9}})

    Outside a job the values are looked at, and nothing is recorded. At most 1,000 names of a
    process are kept, each of at most 250 characters.

    Args:
        values: Numbers by name: of Python or numpy, or tensors of one element; NaN and
            infinite ones, too. A dict in it adds ``/`` and its own names. A value on a GPU is
            waited for.
        step: Whatever counts for the script, from 0. None: the number of the step that is
            being made, as ``StepRecord`` has it, from 0 and over all attempts: from its batch
            on until the next one is asked for. So it is the same just before and just after
            the optimizer's step, and that of the last step after an epoch.
        **more: As ``values``.

    Raises:
        EntryPointError: A value is no number, a name no text or empty, or the step no whole
            number from 0 on.
        StoreError: Records cannot be written (the disk is full, say).
    """
    points = checked({**(values or {}), **more})
    metric_log().keep(points, checked_step(step))


class MetricLog:
    """The metrics of one process.

    Args:
        runtime: Of the process.
    """

    def __init__(self, runtime: InstanceRuntime) -> None:
        self._runtime = runtime
        self._names: dict[str, str] = {}
        self._is_full = False

    def keep(self, points: Iterable[tuple[str, float]], step: int | None) -> None:
        """Record values.

        Args:
            points: Their names and they.
            step: Which step they are of; None: that of the training.

        Raises:
            StoreError: Records cannot be written.
        """
        timer = self._runtime.timer
        if timer.writer is None or not self._is_kept():
            return
        step = timer.current_step if step is None else step
        time_s = time.time()
        for point, value in points:
            if name := self._names.get(point) or self._new_name(point):
                row = (step, time_s, name, *kept_value(value))
                timer.writer.append_values(MetricRecord, row)

    def capture(self, values: Mapping[Any, Any], step: object) -> None:
        """Record the numbers among values that another logger was given.

        Args:
            values: Anything, by name.
            step: Which step it was told; anything.

        Raises:
            EntryPointError: A name is no text.
            StoreError: Records cannot be written.
        """
        points = []
        for name, value in flat(values):
            with suppress(TypeError, ValueError, RuntimeError, OverflowError):
                points.append((name, number_of(value)))
        self.keep(points, step_or_none(step))

    def _is_kept(self) -> bool:
        """Return whether this process is a trainer, and not one that its script has started."""
        runtime = self._runtime
        if not runtime.is_own_process or runtime.context.role != "train":
            return False
        processes: Any = sys.modules.get("multiprocessing.process")
        is_child = processes is not None and processes.parent_process() is not None
        return not is_child or runtime.claim is not None

    def _new_name(self, name: str) -> str | None:
        if len(self._names) < MOST_NAMES:
            return self._names.setdefault(name, neutral(name, longest=LONGEST_NAME))
        if not self._is_full:
            self._is_full = True
            self._runtime.event(
                "warning",
                f"The script logs more than {MOST_NAMES:,} metrics. Others than the first ones "
                f"are left out, {neutral(name, longest=LONGEST_NAME)!r} among them. Put what "
                "changes into the step, not into the name.",
            )
        return None


@lru_cache(maxsize=1)
def _log_of(runtime: InstanceRuntime) -> MetricLog:
    return MetricLog(runtime)


def metric_log() -> MetricLog:
    """Return the metrics of this process."""
    return _log_of(instance_runtime())
