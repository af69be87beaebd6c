"""Follows what ``DistributedDataParallel`` exchanges, also that of an unmodified script.

A communication hook of ours stands between DDP and what averages a bucket: gloo, as without
it, or the script's own hook. The script may register its hook as ever.

Nothing of ours is kept in the script's model: the hook belongs to DDP's reducer, which copies
and pickles of a model leave out. A model is copied, saved and forgotten as without us.
"""

from __future__ import annotations

import functools
import itertools
import time
import weakref
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.parallel.link.backward import Backward, note_backward
from smtc_lab.parallel.link.device import DeviceTime, pretended_s
from smtc_lab.parallel.link.exchange import FollowedBucket, squared_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.exchange import FollowedExchange

_NUMBERS = itertools.count()
_HOOKS: weakref.WeakKeyDictionary[DistributedDataParallel, weakref.ref[BucketHook]] = (
    weakref.WeakKeyDictionary()
)
"""The hooks of the models that are followed. Each belongs to the reducer of its model."""

_GROUPS: list[tuple[weakref.ref[BucketHook], Any]] = []
"""The process group of each hook, kept until its reducer has gone. A reducer that held it last
would join the group's threads while it holds the GIL, which they need to let go of the values
that they averaged."""


class BucketHook:
    """The communication hook of one model.

    Args:
        model: The model that DDP wraps.
        exchange: Follows its buckets.
        device: Returns what an emulated device does now; None: there is none.
    """

    def __init__(
        self,
        model: DistributedDataParallel,
        exchange: FollowedExchange,
        *,
        device: Callable[[], DeviceTime | None],
    ) -> None:
        self._number = next(_NUMBERS)
        self._exchange, self._device = exchange, device
        self._total_bytes = sum(
            each.numel() * each.element_size()
            for each in model.parameters()
            if each.requires_grad
        )
        self._sent_bytes = 0
        self._group = model.process_group
        self._model = weakref.ref(model)
        self._present: Any = None
        self.theirs: tuple[Any, Callable[..., Any]] | None = None
        """State and hook that the script registered; None: none."""

    def joins(self, present: Any) -> None:  # noqa: ANN401  torch's work has several types
        """Take what tells how many ranks still train, in a forward under ``DDP.join``.

        Args:
            present: Work that adds up a 1 of each such rank.
        """
        self._present = present

    def __call__(self, bucket: Any) -> Any:  # noqa: ANN401  torch's futures are generic
        """Average a bucket; return the future of its values."""
        values = bucket.buffer()
        num_bytes = values.numel() * values.element_size()
        self._sent_bytes += num_bytes
        followed = FollowedBucket(
            model=self._number,
            num_bytes=num_bytes,
            is_last=bucket.is_last(),
            backward_s=Backward.began_s,
            ready_s=time.perf_counter(),
        )
        self._pretend_device(followed)
        if self._exchange.measures_noise:
            followed.local_norm2 = squared_norm(values)
        if followed.is_last:
            self._sent_bytes = 0
        self._exchange.announce(followed)
        return self._exchange.follow(followed, self._average(bucket, values))

    def _pretend_device(self, bucket: FollowedBucket) -> None:
        """Let gradients be ready when an emulated device would have them."""
        device = self._device()
        if device is None:
            return
        share = 1.0 if bucket.is_last else min(1.0, self._sent_bytes / self._total_bytes)
        bucket.ready_s = max(bucket.ready_s, pretended_s(device, share))
        bucket.backward_s = pretended_s(device, 0.0)

    def _average(self, bucket: Any, values: torch.Tensor) -> Any:  # noqa: ANN401  as above
        if self.theirs is not None:
            state, hook = self.theirs
            return hook(state, bucket)
        values.mul_(1 / self._divisor())  # as DDP does it itself, to the bit
        work = dist.all_reduce(values, group=self._group, async_op=True)
        assert work is not None  # noqa: S101  it is asynchronous
        return work.get_future().then(lambda done: done.value()[0])

    def _divisor(self) -> int:
        """Return by how many ranks the sum of their gradients is divided.

        All of them, but under ``DDP.join(divide_by_initial_world_size=False)`` those that
        still train. DDP leaves the division to a hook.
        """
        model: Any = self._model()
        if self._present is None or model is None or not model._join_config.enable:  # noqa: SLF001  torch has no public name
            return self._group.size()
        if model._divide_by_initial_world_size:  # noqa: SLF001  as above
            return self._group.size()
        self._present.wait()
        return int(self._present.result()[0].item())


def watch_ddp(
    exchange: FollowedExchange, *, device: Callable[[], DeviceTime | None] = lambda: None
) -> None:
    """Follow every model that this process wraps with DDP from now on.

    Left alone are models on an accelerator, of a part of the trainers, with sparse gradients or
    with DDP's own mixed precision: of their communication nothing is known.

    Args:
        exchange: Follows the buckets.
        device: What an emulated device does now: begin and length of its step; None: none.
    """
    # a class that others subclass is changed in place, as they have it already
    watched: Any = DistributedDataParallel
    plain_init, plain_restore = watched.__init__, watched.__setstate__

    @functools.wraps(plain_init)
    def __init__(model: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807  torch's own
        plain_init(model, *args, **kwargs)
        if _can_be_followed(model):
            exchange.join()
            _hang_on(model, BucketHook(model, exchange, device=device))

    @functools.wraps(plain_restore)
    def __setstate__(model: Any, state: Any) -> None:  # noqa: ANN401, N807  as above
        plain_restore(model, state)
        # Other ranks may have made no copy: nothing can be agreed with them now.
        if exchange.has_joined and _can_be_followed(model):
            _hang_on(model, BucketHook(model, exchange, device=device))

    watched.__init__, watched.__setstate__ = __init__, __setstate__
    _let_scripts_register(watched)
    _note_who_is_present()
    note_backward()


def _hang_on(model: DistributedDataParallel, hook: BucketHook) -> None:
    """Let DDP average a model's buckets by a hook."""
    DistributedDataParallel.register_comm_hook(model, hook, _average_bucket)
    model._comm_hooks.pop()  # noqa: SLF001  copies and pickles have these, and may go elsewhere
    _HOOKS[model] = weakref.ref(hook)
    _GROUPS[:] = [(each, group) for each, group in _GROUPS if each() is not None]
    _GROUPS.append((weakref.ref(hook), model.process_group))


def _average_bucket(state: BucketHook, bucket: Any) -> Any:  # noqa: ANN401  torch's futures are generic
    """Average a bucket, as torch calls it: the second parameter must be ``bucket``."""
    return state(bucket)


_average_bucket.__annotations__ = {}  # torch compares these with its own classes


def _hook_of(model: DistributedDataParallel) -> BucketHook | None:
    found = _HOOKS.get(model)
    return None if found is None else found()


def _let_scripts_register(watched: Any) -> None:  # noqa: ANN401  a class that is changed
    """Let scripts register their hook where ours is registered already."""
    plain_register = watched.register_comm_hook
    plain_builtin = watched._register_builtin_comm_hook  # noqa: SLF001  it would find ours

    @functools.wraps(plain_register)
    def register_comm_hook(model: Any, state: object, hook: Callable[..., Any]) -> None:  # noqa: ANN401  torch's own
        ours = _hook_of(model)
        if ours is None:
            plain_register(model, state, hook)
            return
        model._check_comm_hook(hook)  # noqa: SLF001  what torch's own does first
        if ours.theirs is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        ours.theirs = (state, hook)
        model._comm_hooks.append((hook, state))  # noqa: SLF001  as torch's own does

    @functools.wraps(plain_builtin)
    def register_builtin(model: Any, comm_hook_type: Any) -> None:  # noqa: ANN401  torch's own
        if _hook_of(model) is None:
            plain_builtin(model, comm_hook_type)
            return
        is_half = "FP16" in str(comm_hook_type)
        hook = default_hooks.fp16_compress_hook if is_half else default_hooks.allreduce_hook
        model.register_comm_hook(None, hook)

    watched.register_comm_hook = register_comm_hook
    watched._register_builtin_comm_hook = register_builtin  # noqa: SLF001  as above


def _note_who_is_present() -> None:
    """Tell hooks of the count of ranks that DDP starts in each forward under ``DDP.join``."""
    plain = Join.notify_join_context

    @functools.wraps(plain)
    def notify_join_context(joinable: Any) -> Any:  # noqa: ANN401  torch's own
        present = plain(joinable)
        ours = _hook_of(joinable) if isinstance(joinable, DistributedDataParallel) else None
        if present is not None and ours is not None:
            ours.joins(present)
        return present

    Join.notify_join_context = staticmethod(notify_join_context)  # type: ignore[method-assign]


def _can_be_followed(model: DistributedDataParallel) -> bool:
    group = model.process_group
    is_plain = model.mixed_precision is None
    is_sparse = any(
        isinstance(each, torch.nn.Embedding | torch.nn.EmbeddingBag) and each.sparse
        for each in model.module.modules()
    )
    is_on_cpu = all(each.device.type == "cpu" for each in model.parameters())
    return (
        is_plain
        and is_on_cpu
        and not is_sparse
        and dist.get_world_size() > 1
        and group.size() == dist.get_world_size()
    )
