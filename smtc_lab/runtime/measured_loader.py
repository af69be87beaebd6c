"""The dataloader of a trainer whose launch belongs to a calibration.

It varies what the script is given: the first batch again and again, so that a step waits for
nothing; or no batch at all, while the dataloader runs as fast as it can. It ends the script
when enough was measured, and leaves ``output/data/measured.json`` with what only this process
can tell.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.errors import EntryPointError
from smtc_lab.instance.description import MEASURED_FILE
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.parallel.untraced import untraced
from smtc_lab.runtime.batch_samples import num_samples_of
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.measuring.gradients import GradientTimes

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_FIRST_STEPS = 2
_LEAST_STEPS = 12
_LONGEST = 4.0
_T_co = TypeVar("_T_co", covariant=True)


class MeasuredDataLoader(DataLoader[_T_co]):
    """A dataloader that is measured itself, or keeps out of the way."""

    def __init__(
        self,
        dataset: Any,  # noqa: ANN401  as torch's own
        batch_size: int | None = 1,
        *args: Any,  # noqa: ANN401  as torch's own
        **kwargs: Any,  # noqa: ANN401  as torch's own
    ) -> None:
        asked = self._watch.measure.batch_size
        if asked is not None and batch_size is not None and not kwargs.get("batch_sampler"):
            batch_size = asked
        super().__init__(dataset, batch_size, *args, **kwargs)

    @property
    def _watch(self) -> _Measuring:
        """The process's watch, which no copy of a loader holds."""
        return _Measuring.of_this_process()

    def __iter__(self) -> Any:  # noqa: ANN401  torch returns its own iterator
        """Return an iterator that ends the script in time; or run alone and end it."""
        # evaluation takes no gradients
        if torch.is_grad_enabled() and not self._watch.runtime.sets_num_workers:
            self._watch.saw("script_num_workers", float(self.num_workers))
        if self._watch.measure.what == "loader":
            _run_alone(super().__iter__, self._watch)
        return _WatchedBatches(super().__iter__(), self._watch)


class _WatchedBatches(Iterator[Any]):
    """The batches of one pass, or the first of them as many times."""

    def __init__(self, batches: Iterator[Any], watch: _Measuring) -> None:
        self._batches = batches
        self._watch = watch
        self._is_resident = watch.measure.what == "resident"
        self._kept: Any = None
        self._left = 0

    def __next__(self) -> Any:  # noqa: ANN401  a batch
        self._watch.end_in_time()
        if not self._is_resident:
            return next(self._batches)
        if self._kept is None:
            self._kept = next(self._batches)
            self._left = self._num_batches() - 1
            self._watch.saw("loader_batch_size", float(num_samples_of(self._kept) or 1))
            return self._kept
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        runtime = self._watch.runtime
        if not runtime.is_timed_by_session:  # nobody else sees this batch pass
            runtime.timer.ask()
            runtime.timer.got(num_samples_of(self._kept))
        return self._kept

    def __len__(self) -> int:
        return self._num_batches()

    def _num_batches(self) -> int:
        """Return the batches of one pass; a stream without a length has no last one."""
        try:
            return len(self._batches)  # type: ignore[arg-type]  # torch's iterators have it
        except TypeError:
            return -1


class _Measuring:
    """Knows when enough was measured, and what else was seen; one for a process."""

    _only: _Measuring | None = None

    def __init__(self, runtime: InstanceRuntime) -> None:
        measure = runtime.context.measure
        assert measure is not None  # noqa: S101  such loaders are made for nothing else
        self.runtime = runtime
        self.measure = measure
        self._begin_s: float | None = None
        self._begin_cpu_s, self._begin_steps = 0.0, 0
        self._seen: dict[str, float] = {}
        self._times = GradientTimes() if measure.what == "resident" else None
        self._hook = register_optimizer_step_post_hook(untraced(self._optimizer_stepped))

    @classmethod
    def of_this_process(cls) -> _Measuring:
        """Return the process's watch."""
        if cls._only is None:
            cls._only = cls(instance_runtime())
        return cls._only

    def end_in_time(self) -> None:
        """End the script with success, if enough was measured."""
        num_steps = self.runtime.timer.num_steps
        if num_steps < _FIRST_STEPS:
            return
        now_s = time.monotonic()
        if self._begin_s is None:
            self._begin_s = now_s
            self._begin_cpu_s, self._begin_steps = time.thread_time(), num_steps
        limit_s = self.measure.seconds * (1 if num_steps >= _LEAST_STEPS else _LONGEST)
        if now_s - self._begin_s >= limit_s:
            if self.measure.what == "loader":
                cpu_s = time.thread_time() - self._begin_cpu_s
                self.saw("thread_s_per_step", cpu_s / max(1, num_steps - self._begin_steps))
            self.runtime.close()
            raise SystemExit(0)

    def saw(self, what: str, value: float) -> None:
        """Write down a number."""
        base = os.environ.get(BASE_FOLDER_VARIABLE)
        if base is None:
            return
        self._seen[what] = value
        file = Path(base, MEASURED_FILE)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self._seen), encoding="utf-8")

    def _optimizer_stepped(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        if self._times is not None:
            self._times.stepped(parameters)
        if "gradient_bytes" in self._seen:
            return
        self.saw(
            "gradient_bytes", float(sum(one.nbytes for one in parameters if one.requires_grad))
        )


def _run_alone(iterate: Callable[[], Iterator[Any]], watch: _Measuring) -> NoReturn:
    """Take batches as fast as they come until enough was measured; then end the script.

    Raises:
        EntryPointError: There is no batch.
        SystemExit: Enough was measured.
    """
    runtime, timer = watch.runtime, watch.runtime.timer
    runtime.is_timed_by_session = True
    while True:
        num_batches = timer.num_steps
        timer.ask()
        for batch in iterate():
            timer.got(num_samples_of(batch))
            timer.end()
            watch.end_in_time()
            timer.ask()
        timer.drop()
        if timer.num_steps == num_batches:
            raise EntryPointError(
                "The dataloader had no batch: its dataset is empty, or smaller than one batch "
                "with drop_last. Lower the batch size."
            )
