"""Holds torch's own data workers to one emulated vCPU each, by whatever method they start."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from torch.utils.data import get_worker_info

from smtc_lab.dataservice.torch_names import needed
from smtc_lab.machine.quota.members import limit_children
from smtc_lab.machine.quota.vcpu import Vcpu, own_vcpu

_LOOP = "torch.utils.data._utils.worker:_worker_loop"
_FETCHERS = (
    "torch.utils.data._utils.fetch:_MapDatasetFetcher",
    "torch.utils.data._utils.fetch:_IterableDatasetFetcher",
)


def hold_workers() -> None:
    """Hold the data workers that this process starts from now on, where vCPUs are emulated."""
    limit_children()
    if own_vcpu() is None:
        return
    # where the loader looks it up
    setattr(sys.modules[_TORCHS_OWN.__module__], _TORCHS_OWN.__name__, held_worker_loop)


def held_worker_loop(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's own
    """Stand in for torch's ``_worker_loop``, in a process that may know nothing of this one."""
    for name in _FETCHERS:
        fetcher: Any = needed(name)
        plain = fetcher.fetch

        def fetch(self: Any, *indices: Any, plain: Any = plain) -> Any:  # noqa: ANN401  torch's own
            vcpu = _of_this_worker()
            if vcpu is None:  # it took the variable away
                return plain(self, *indices)
            vcpu.begin()
            batch = plain(self, *indices)
            vcpu.wait()
            return batch

        fetcher.fetch = fetch
    _TORCHS_OWN(*args, **kwargs)


@cache
def _of_this_worker() -> Vcpu | None:
    info = get_worker_info()
    return own_vcpu(busy=1 if info is None else info.num_workers)


_TORCHS_OWN = needed(_LOOP)
"""Taken before anything stands in for it; a spawned process imports this module by itself."""
