"""Follows what ``DistributedDataParallel`` exchanges, also that of an unmodified script.

A communication hook of ours stands between DDP and what averages a bucket: gloo, as without
it, or the script's own hook, or reducers. The script may register its hook as ever.
"""

from __future__ import annotations

import functools
import itertools
import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.parallel.link.backward import Backward, note_backward
from smtc_lab.parallel.link.device import DeviceTime, pretended_s
from smtc_lab.parallel.link.exchange import FollowedBucket, squared_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.exchange import FollowedExchange

_OWN_HOOK = "_smtc_hook"
_NUMBERS = itertools.count()


class BucketHook:
    """The communication hook of one model.

    Args:
        model: The model that DDP wraps.
        exchange: Follows its buckets.
        device: Returns what an emulated device does now; None: there is none.
        reduce: Averages a bucket in place of gloo; None: gloo does.
    """

    def __init__(
        self,
        model: DistributedDataParallel,
        exchange: FollowedExchange,
        *,
        device: Callable[[], DeviceTime | None],
        reduce: Callable[[torch.Tensor], Any] | None = None,
    ) -> None:
        self._number = next(_NUMBERS)
        self._exchange, self._device, self._reduce = exchange, device, reduce
        self._total_bytes = sum(
            each.numel() * each.element_size()
            for each in model.parameters()
            if each.requires_grad
        )
        self._sent_bytes = 0
        self._group = model.process_group
        self.theirs: tuple[Any, Callable[..., Any]] | None = None
        """State and hook that the script registered; None: none."""

    def __call__(self, state: object, bucket: Any) -> Any:  # noqa: ANN401  torch's futures are generic
        """Average a bucket; return the future of its values."""
        del state
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
        if self._reduce is not None:
            return self._reduce(values)
        values.mul_(1 / self._group.size())  # as DDP does it itself, to the bit
        work = dist.all_reduce(values, group=self._group, async_op=True)
        assert work is not None  # noqa: S101  it is asynchronous
        return work.get_future().then(lambda done: done.value()[0])


def watch_ddp(
    exchange: FollowedExchange,
    *,
    device: Callable[[], DeviceTime | None] = lambda: None,
    reduce: Callable[[torch.nn.Module], Callable[[torch.Tensor], Any] | None] = lambda _: None,
) -> None:
    """Follow every model that this process wraps with DDP from now on.

    Left alone are models on an accelerator, of a part of the trainers, with sparse gradients or
    with DDP's own mixed precision: of their communication nothing is known.

    Args:
        exchange: Follows the buckets.
        device: What an emulated device does now: begin and length of its step; None: none.
        reduce: Called by all ranks with a model that is wrapped; returns what averages in
            place of gloo, or None.
    """
    # a class that others subclass is changed in place, as they have it already
    watched: Any = DistributedDataParallel
    plain_init, plain_register = watched.__init__, watched.register_comm_hook

    @functools.wraps(plain_init)
    def __init__(model: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807  torch's own
        plain_init(model, *args, **kwargs)
        if not _can_be_followed(model):
            return
        exchange.join()
        hook = BucketHook(model, exchange, device=device, reduce=reduce(model.module))
        model.__dict__[_OWN_HOOK] = hook
        plain_register(model, None, _named(hook))

    @functools.wraps(plain_register)
    def register_comm_hook(model: Any, state: object, hook: Callable[..., Any]) -> None:  # noqa: ANN401  torch's own
        ours: BucketHook | None = model.__dict__.get(_OWN_HOOK)
        if ours is None:
            plain_register(model, state, hook)
            return
        model._check_comm_hook(hook)  # noqa: SLF001  what torch's own does first
        if ours.theirs is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        ours.theirs = (state, hook)

    def register_builtin(model: Any, comm_hook_type: Any) -> None:  # noqa: ANN401  torch's own
        is_half = "FP16" in str(comm_hook_type)
        hook = default_hooks.fp16_compress_hook if is_half else default_hooks.allreduce_hook
        model.register_comm_hook(None, hook)

    watched.__init__ = __init__
    watched.register_comm_hook = register_comm_hook
    watched._register_builtin_comm_hook = register_builtin  # noqa: SLF001  it would find ours
    note_backward()


def _named(hook: BucketHook) -> Callable[..., Any]:
    """Return a hook as torch wants it: a function whose second parameter is ``bucket``."""

    def smtc_bucket_hook(state: object, bucket: Any) -> Any:  # noqa: ANN401  as above
        return hook(state, bucket)

    # torch compares annotations with its own classes
    smtc_bucket_hook.__annotations__ = {}
    return smtc_bucket_hook


def _can_be_followed(model: DistributedDataParallel) -> bool:
    group = model.process_group
    is_plain = getattr(model, "mixed_precision", None) is None
    is_sparse = any(getattr(each, "sparse", False) for each in model.module.modules())
    is_on_cpu = all(each.device.type == "cpu" for each in model.parameters())
    return (
        is_plain
        and is_on_cpu
        and not is_sparse
        and dist.get_world_size() > 1
        and group.size() == dist.get_world_size()
    )
