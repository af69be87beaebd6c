"""Times an unmodified script: its dataloader's waits and its optimizer's steps.

Everything hangs on one moment: the end of the script's own ``import torch``. A script that
never imports torch pays nothing.
"""

from __future__ import annotations

import random
import sys
import weakref
from typing import TYPE_CHECKING, Any

from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.step_timer import num_samples_of

if TYPE_CHECKING:
    from collections.abc import Callable


class StepsDone(SystemExit):
    """Ends a script with success, because the job's ``max_steps`` is reached."""


def install_hooks() -> None:
    """Time the script of this process from now on; torch has just been imported."""
    from torch.optim.optimizer import (  # noqa: PLC0415  it is there now
        register_optimizer_step_post_hook,
    )

    from smtc_lab.dataservice.iterators import SeededIterator  # noqa: PLC0415  needs torch
    from smtc_lab.dataservice.torch_names import needed  # noqa: PLC0415  others do without torch
    from smtc_lab.runtime.data_instance import use_data_service  # noqa: PLC0415  needs torch

    runtime = instance_runtime()
    seed_everything(runtime.context.seed)
    if runtime.compilation is not None:
        from smtc_lab.runtime.script.compiler import (  # noqa: PLC0415  other jobs do without
            adopt_script,
        )

        # Its hooks come before ours: a step ends when the device is done.
        adopt_script(runtime.compilation, say=runtime.event)
    register_optimizer_step_post_hook(_optimizer_stepped)
    theirs = needed("torch.utils.data.dataloader:_BaseDataLoaderIter")  # where batches pass
    ours: Any = SeededIterator  # it passes torch's own only while a profiler runs
    for iterator in (theirs, ours):
        iterator.__next__ = _timed_next(iterator.__next__)
    use_data_service(runtime)


def seed_everything(seed: int) -> None:
    """Seed torch, numpy (where it is imported) and random.

    Args:
        seed: 0 to 2**63 - 1.
    """
    import torch  # noqa: PLC0415  the caller has it

    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _timed_next(plain_next: Callable[[Any], Any]) -> Callable[[Any], Any]:
    runtime = instance_runtime()
    timer = runtime.timer

    def __next__(self: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
        if runtime.is_timed_by_session or _Inside.a_timed_next:
            return plain_next(self)
        timer.ask()
        _Inside.a_timed_next = True
        try:
            batch = plain_next(self)
        except StopIteration:
            timer.drop()
            raise
        finally:
            _Inside.a_timed_next = False
        timer.got(num_samples_of(batch))
        return batch

    return __next__


class _Inside:
    """Where the trainer is now."""

    a_timed_next = False


class _Counted:
    """The optimizer whose steps count: the first one that stepped, and still lives."""

    optimizer: Callable[[], object] = staticmethod(lambda: None)


def _optimizer_stepped(optimizer: object, *_: object) -> None:
    runtime = instance_runtime()
    if runtime.is_timed_by_session:
        return
    counted = _Counted.optimizer()
    if counted is None:
        _Counted.optimizer = weakref.ref(optimizer)
    elif counted is not optimizer:
        return
    if runtime.compilation is not None:
        runtime.compilation.wait()
    runtime.timer.end()
    if runtime.timer.is_done:
        runtime.close()
        raise StepsDone(0)
