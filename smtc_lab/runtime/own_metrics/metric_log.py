"""Records the metrics of this process, each value with its step and its time."""

from __future__ import annotations

import operator
import sys
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.records.metric_record import (
    LONGEST_NAME,
    MOST_NAMES,
    MetricRecord,
    kept_value,
)
from smtc_lab.neutral_text import neutral
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_MOST_STEP = 2**53
_MOST_SHOWN = 80
_NO_NUMBER = (TypeError, ValueError, RuntimeError, OverflowError)


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

    Outside a job the values are looked at, and nothing is recorded. What a script logs of
    passes that an earlier attempt trained is there already, and left out. A process keeps 1,000
    names at most, each of at most 250 characters.

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
    kept = metric_log()
    if not kept.is_restoring:
        kept.keep(checked({**(values or {}), **more}), checked_step(step))


def checked(values: Mapping[Any, Any]) -> list[tuple[str, float]]:
    """Return values as numbers, by their names.

    Raises:
        EntryPointError: One is no number, or a name no text or empty.
    """
    points = []
    for name, value in _flat(values):
        try:
            points.append((name, _number_of(value)))
        except _NO_NUMBER as error:
            shape = getattr(value, "shape", None)
            of = _shown(value) if shape is None else f"of shape {tuple(shape)}"
            raise EntryPointError(
                f"The metric {name[:_MOST_SHOWN]!r} is no number, but {type(value).__name__} "
                f"{of}. Log one number: its mean, say, or leave it out."
            ) from error
    return points


def checked_step(step: Any) -> int | None:  # noqa: ANN401  whatever a script gives
    """Return a step; None: none was given.

    Raises:
        EntryPointError: It is no whole number from 0 on.
    """
    if step is not None and (given := _step_of(step, operator.index)) is None:
        raise EntryPointError(
            f"The step {_shown(step)} ({type(step).__name__}) is no whole number from 0 on. "
            "Leave it out, and it is the step of the training."
        )
    return None if step is None else given


class MetricLog:
    """The metrics of one process."""

    def __init__(self, runtime: InstanceRuntime) -> None:
        self._runtime = runtime
        self._names: dict[str, str] = {}
        self._is_full = False

    @property
    def is_restoring(self) -> bool:
        """Whether the script runs through what an earlier attempt did, and logged."""
        return self._runtime.is_restoring

    def keep(self, points: Iterable[tuple[str, float]], step: int | None) -> None:
        """Record values by their names.

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

    def capture(self, values: Mapping[Any, Any], step: Any) -> None:  # noqa: ANN401  of others
        """Record the numbers among what another logger was given; raises whatever it meets."""
        points = []
        for name, value in () if self.is_restoring else _flat(values):
            with suppress(*_NO_NUMBER):
                points.append((name, _number_of(value)))
        self.keep(points, _step_of(step, int))

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


def _flat(values: Mapping[Any, Any], begin: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values; those of a dict in it are called ``<its name>/<their name>``."""
    for name, value in values.items():
        if not isinstance(name, str) or not name.strip():
            raise EntryPointError(
                f"The name of a metric is {_shown(name)} ({type(name).__name__}), but has to "
                "be a text that is not empty. Call it 'train/loss', say."
            )
        if hasattr(value, "items"):
            yield from _flat(value, f"{begin}{name}/")
        else:
            yield f"{begin}{name}", value


def _number_of(value: Any) -> float:  # noqa: ANN401  whatever a script logs
    """Return a value as a number; raises one of ``_NO_NUMBER`` where it is none."""
    if not isinstance(value, float | int) and hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, float | int):
        raise TypeError
    return float(value)


def _step_of(step: Any, whole: Any) -> int | None:  # noqa: ANN401  as above
    """Return a step as ``whole`` makes it a whole number; None: it is none from 0 on."""
    with suppress(*_NO_NUMBER):
        if 0 <= (number := int(whole(step))) <= _MOST_STEP:
            return number
    return None


def _shown(value: object) -> str:
    return repr(value)[:_MOST_SHOWN]
