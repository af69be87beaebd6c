"""What ``torch.utils.data.get_worker_info`` returns, set as torch's own data workers set it."""

from __future__ import annotations

from typing import Any

from smtc_lab.dataservice.torch_names import needed
from smtc_lab.machine.torch_names import private_name

_worker: Any = private_name("torch.utils.data._utils.worker:")
for _name in ("WorkerInfo", "_worker_info"):
    needed(f"torch.utils.data._utils.worker:{_name}")


def worker_info() -> Any:  # noqa: ANN401  torch's own class
    """Return what datasets are told of the data worker that they are in; None: in none."""
    return _worker._worker_info  # noqa: SLF001  torch has no setter


def set_worker_info(info: Any) -> None:  # noqa: ANN401  as above
    """Tell datasets of this process from now on.

    Args:
        info: Of ``new_worker_info``; None: they are in no data worker.
    """
    _worker._worker_info = info  # noqa: SLF001  as above


def new_worker_info(*, number: int, num_workers: int, seed: int, dataset: object) -> Any:  # noqa: ANN401  as above
    """Return what a dataset is told of its data worker.

    Args:
        number: Of the data worker, from 0.
        num_workers: How many there are.
        seed: Of the data worker, as torch has it.
        dataset: The data worker's own.
    """
    return _worker.WorkerInfo(id=number, num_workers=num_workers, seed=seed, dataset=dataset)
