"""Times an unmodified script: its dataloader's waits and its optimizer's steps.

Everything hangs on one moment: the end of the script's own ``import torch``. A script that
never imports torch pays nothing.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.variables import FINGERPRINTS_VARIABLE, ROLE_VARIABLE
from smtc_lab.metrics.records.records import TORCHS_OWN
from smtc_lab.runtime.batch_samples import num_samples_of
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.own_metrics.captured import capture_metrics
from smtc_lab.runtime.resuming.watched import watch_attempts
from smtc_lab.runtime.script.after_import import after_import
from smtc_lab.runtime.script.first_failure import note_thread_failures
from smtc_lab.runtime.script.own_ranks import count_own_ranks
from smtc_lab.runtime.script.stateful_loader import replace_stateful_loader

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.runtime.instance_runtime import InstanceRuntime
    from smtc_lab.runtime.ranks.same_samples import FirstBatches
    from smtc_lab.runtime.script.backward import BackwardSteps


def install_hooks() -> None:
    """Time the script of this process from now on; torch has just been imported.

    On a data instance, where it brings a data server, only its data workers are held.
    """
    from smtc_lab.dataservice.serving.torch_workers import hold_workers  # noqa: PLC0415  needs torch

    hold_workers()
    if os.environ.get(ROLE_VARIABLE) == "data":
        return
    from smtc_lab.runtime.data_instance import use_data_service  # noqa: PLC0415  needs torch

    runtime = instance_runtime()
    note_thread_failures()
    watch_attempts(runtime)
    _look_at_others(runtime)
    _seed(runtime)
    if runtime.compilation is not None:
        from smtc_lab.runtime.script.compiler import (  # noqa: PLC0415  other jobs do without
            adopt_script,
        )

        # Its hooks come before ours: a step ends when the device is done.
        adopt_script(runtime.compilation, say=runtime.event)
    if runtime.context.world_size > 1:
        from smtc_lab.runtime.script.exchange import (  # noqa: PLC0415  others do without
            watch_exchange,
        )

        watch_exchange(runtime)
    _time_steps(runtime)
    count_own_ranks(runtime, time_own_rank)
    if (replacement := use_data_service(runtime)) is not None:
        replace_stateful_loader(replacement)


def time_own_rank(runtime: InstanceRuntime) -> None:
    """Time the steps of this process, a rank that was started by the script of a trainer."""
    watch_attempts(runtime)
    _time_steps(runtime)


def _time_steps(runtime: InstanceRuntime) -> None:
    from torch.optim.optimizer import (  # noqa: PLC0415  it is there now
        register_optimizer_step_post_hook,
    )

    from smtc_lab.dataservice.iterating.iterators import SeededIterator  # noqa: PLC0415  needs torch
    from smtc_lab.dataservice.torch_names import needed  # noqa: PLC0415  others do without torch
    from smtc_lab.parallel.untraced import untraced  # noqa: PLC0415  needs torch
    from smtc_lab.runtime.script.backward import BackwardSteps  # noqa: PLC0415  as above

    capture_metrics(after_import)
    _Counted.by_backward = BackwardSteps(runtime, _end_step)
    stepped = untraced(_optimizer_stepped, when_left_out=_optimizer_left_out)
    register_optimizer_step_post_hook(stepped)
    theirs = needed("torch.utils.data.dataloader:_BaseDataLoaderIter")  # where batches pass
    ours: Any = SeededIterator  # it passes torch's own only while a profiler runs
    theirs.__next__ = _timed_next(_counted_next(theirs.__next__, but_for=ours))
    ours.__next__ = _timed_next(ours.__next__)
    if runtime.context.permutes_samples:
        _permute_samples(theirs, ours)


def _look_at_others(runtime: InstanceRuntime) -> None:
    """Let trainers meet, and tell where they train apart, or all on the same samples."""
    from smtc_lab.runtime.ranks.rendezvous import (  # noqa: PLC0415  needs torch
        meet_in_private,
        say_if_alone,
        store_of_trainers,
    )
    from smtc_lab.runtime.ranks.same_samples import FirstBatches  # noqa: PLC0415  as above

    context, layout = runtime.context, runtime.context.distribution
    meet_in_private(context, runtime.event)
    share_a_batch = layout is not None and layout.pipeline * layout.tensor > 1
    if context.world_size > 1 and not share_a_batch:
        _Counted.first_batches = FirstBatches(context, store_of_trainers, runtime.event)

    def look() -> None:
        say_if_alone(context, runtime.event)
        if _Counted.first_batches is not None:
            _Counted.first_batches.compare()

    runtime.timer.on_first_step = look


def _permute_samples(theirs: Any, ours: Any) -> None:  # noqa: ANN401  classes of iterators
    """Permute the samples of each batch that passes."""
    from smtc_lab.runtime.script.permuted import (  # noqa: PLC0415  other jobs do without
        permuted_next,
    )

    theirs.__next__ = permuted_next(theirs.__next__, but_for=ours)
    ours.__next__ = permuted_next(ours.__next__)


def _seed(runtime: InstanceRuntime) -> None:
    """Seed torch, from which weights and orders of samples come, so that launches compare.

    With the default seed ``random`` and numpy are left as they are, since scripts draw names
    from them; but where weights of launches are compared bit for bit they are seeded, too.
    """
    import torch  # noqa: PLC0415  the caller has it

    torch.manual_seed(seed := runtime.context.seed)
    has_parity = runtime.context.parity_steps is not None
    if seed or has_parity or FINGERPRINTS_VARIABLE in os.environ:
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)


def _timed_next(plain_next: Callable[[Any], Any]) -> Callable[[Any], Any]:
    timer = (runtime := instance_runtime()).timer
    import torch  # noqa: PLC0415  the caller has it

    def __next__(self: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
        if runtime.is_over:
            runtime.end_script()
        if runtime.is_timed_by_session or runtime.is_restoring or _inside.a_timed_next:
            return plain_next(self)
        if _Counted.by_backward is not None:
            _Counted.by_backward.will_ask()
        # Not id(): another iterator may have that of one that is gone.
        source = _sources.get(self) or _sources.setdefault(self, next(_numbers))
        timer.ask(source, is_for_training=torch.is_grad_enabled())
        _inside.a_timed_next = True
        try:
            batch = plain_next(self)
        except StopIteration:
            timer.drop(source)
            raise
        finally:
            _inside.a_timed_next = False
        timer.got(num_samples_of(batch))
        if torch.is_grad_enabled():
            with suppress(Exception):  # what the script's own classes may raise is theirs
                runtime.took(batch)
                if _Counted.first_batches is not None:
                    _Counted.first_batches.took(batch)
        return batch

    return __next__


def _counted_next(plain_next: Callable[[Any], Any], *, but_for: type) -> Callable[[Any], Any]:
    """Return torch's own ``__next__`` with its batches recorded, but for a class that does."""
    from smtc_lab.dataservice.client.statistics import (  # noqa: PLC0415  needs torch
        LoaderStatistics,
        hand_over_all,
    )
    from smtc_lab.dataservice.protocol.messages import Answer  # noqa: PLC0415  as above

    runtime = instance_runtime()
    statistics = LoaderStatistics(runtime.record)
    runtime.before_close = partial(_hand_over, runtime, hand_over_all)
    outcome = Answer(None, None, TORCHS_OWN, 0, 0.0)

    def __next__(self: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
        if isinstance(self, but_for):
            return plain_next(self)
        begin_s = time.perf_counter()
        batch = plain_next(self)
        statistics.add_batch(outcome, time.perf_counter() - begin_s, was_ready=False)
        if statistics.is_due():
            statistics.hand_over()
        return batch

    return __next__


def _hand_over(runtime: InstanceRuntime, all_batches: Callable[[], None]) -> None:
    """Record what was kept back until the script ends."""
    from smtc_lab.runtime.data_instance import say_if_unused  # noqa: PLC0415  needs torch

    all_batches()
    say_if_unused(runtime)
    if _Counted.by_backward is not None:
        _Counted.by_backward.release()


class _Inside(threading.local):
    a_timed_next = False


_inside = _Inside()
"""Where a thread of the trainer is now."""
_numbers = itertools.count(1)
_sources: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Numbers of the iterators that batches are drawn from."""


class _Counted:
    """What ends the steps that count."""

    optimizer: Callable[[], object] = staticmethod(lambda: None)
    """The first optimizer that stepped, and still lives; see ``_takes_over``."""
    rival: Callable[[], object] = staticmethod(lambda: None)
    """Another one, that stepped on a batch of its own since."""
    by_backward: BackwardSteps | None = None
    """What ends them where there is no optimizer; None: the script has not imported torch."""
    first_batches: FirstBatches | None = None
    """Compares those of several trainers; None: there is one, or they share a batch."""


def _optimizer_stepped(optimizer: object, *_: object) -> None:
    runtime = instance_runtime()
    if runtime.is_timed_by_session or runtime.is_restoring:
        return
    counted = _Counted.optimizer()
    if counted is None and _Counted.rival() is None:
        _Counted.optimizer = weakref.ref(optimizer)
    elif counted is optimizer:
        _Counted.rival = staticmethod(lambda: None)
    elif not _takes_over(optimizer):
        return
    if _Counted.by_backward is not None:  # made by other means than its class's own
        _Counted.by_backward.heard_optimizer()
    _end_step()


def _optimizer_left_out() -> None:
    """Let backward passes end steps, where no optimizer's step is heard of."""
    if _Counted.by_backward is not None and _Counted.optimizer() is None:
        _Counted.by_backward.lost_optimizer()


def _takes_over(optimizer: object) -> bool:
    """Return whether an optimizer steps on batch after batch, and the counted one no longer.

    Several optimizers that step on each batch in turn (a generator's and a discriminator's)
    make one step. One that goes on where another has ended (a fold, a phase) makes its own.
    """
    timer = instance_runtime().timer
    if not timer.has_batch:
        return False
    if _Counted.rival() is optimizer:
        _Counted.optimizer = weakref.ref(optimizer)
        _Counted.rival = staticmethod(lambda: None)
        _end_step(timer.end_marked)
        return True
    if _Counted.rival() is None:
        _Counted.rival = weakref.ref(optimizer)
        timer.mark()
    return False


def _end_step(end: Callable[[], None] | None = None) -> None:
    """End the step that is open, and the script with the job's last one."""
    runtime = instance_runtime()
    if runtime.is_over:
        runtime.end_script()
    if runtime.claim is not None and runtime.is_own_process and not runtime.claim():
        return
    if runtime.compilation is not None:
        runtime.compilation.wait()
    else:  # as in a session, the device is left alone, and may still compute
        runtime.timer.synchronized = not sys.modules["torch"].cuda.is_initialized()
    (end or runtime.timer.end)()
    if runtime.timer.is_done:
        runtime.end_script()
