"""A declared network for FSDP2, where the session shards a model.

Covered are its all-gathers of parameters and reduce-scatters of gradients. Not covered are the
all-reduce between replicas (HSDP), and models that a script shards itself. Nothing of it is in
the records of communication.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.parallel.link.pace import sleep_until

if TYPE_CHECKING:
    from smtc_lab.parallel.link.pace import Pace


class _PacedWork:
    """Work that is done when the values are there, and the network would have brought them."""

    def __init__(self, work: Any, end_s: float) -> None:  # noqa: ANN401  any backend's
        self._work, self._end_s = work, end_s

    def wait(self, *args: Any) -> bool:  # noqa: ANN401  torch's own arguments
        self._work.wait(*args)
        sleep_until(self._end_s)
        return True


class _Paced:
    """A collective of FSDP2 that takes as long as declared; memory as FSDP2's default."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:  # noqa: ANN401  torch's own
        return torch.empty(*size, dtype=dtype, device=device)

    def _held(self, work: Any, whole: torch.Tensor, began_s: float, *, later: bool) -> Any:  # noqa: ANN401  any backend's
        num_bytes = whole.numel() * whole.element_size()
        end_s = self._pace.reserve(began_s, self._pace.gather_s(num_bytes))
        if later:
            return _PacedWork(work, end_s)
        sleep_until(end_s)
        return work


class PacedAllGather(_Paced):
    """All-gathers parameters."""

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        async_op: bool = False,  # noqa: FBT001, FBT002  torch's own
    ) -> Any:  # noqa: ANN401  any backend's
        """Gather, and return the work where it is not done yet."""
        began_s = time.perf_counter()
        work = dist.all_gather_into_tensor(
            output_tensor, input_tensor, group=group, async_op=async_op
        )
        return self._held(work, output_tensor, began_s, later=async_op)


class PacedReduceScatter(_Paced):
    """Reduces and scatters gradients."""

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        op: Any,  # noqa: ANN401  torch's own
        async_op: bool = False,  # noqa: FBT001, FBT002  torch's own
    ) -> Any:  # noqa: ANN401  any backend's
        """Reduce, and return the work where it is not done yet."""
        began_s = time.perf_counter()
        work = dist.reduce_scatter_tensor(
            output_tensor, input_tensor, op=op, group=group, async_op=async_op
        )
        return self._held(work, input_tensor, began_s, later=async_op)


def pace_fsdp(model: torch.nn.Module, pace: Pace) -> int:
    """Let every sharded part of a model exchange at a declared pace; return how many there are.

    Args:
        model: What ``fully_shard`` has sharded.
        pace: The declared network of the trainers that share it.
    """
    parts: list[Any] = [
        each for each in model.modules() if hasattr(each, "set_custom_all_gather")
    ]
    for part in parts:
        part.set_custom_all_gather(PacedAllGather(pace))
        part.set_custom_reduce_scatter(PacedReduceScatter(pace))
    return len(parts)
