"""Private names of torch that dataloaders need, each with what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import DataServiceError
from smtc_lab.machine.torch_names import lacking, needed_name, private_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_INSTEAD = "torch's own DataLoader"
_ITERATOR = "torch.utils.data.dataloader:_BaseDataLoaderIter"

WHAT_FOR: Mapping[str, str] = {
    "torch:_make_per_channel_quantized_tensor": "makes a quantized tensor of its integers",
    "torch:_make_per_tensor_quantized_tensor": "makes a quantized tensor of its integers",
    "torch.autograd.profiler:_is_profiler_enabled": "tells that a profiler runs",
    "torch.utils.data._utils.collate:collate_tensor_fn": "stacks tensors",
    "torch.utils.data._utils.collate:default_collate_fn_map": "says who stacks what",
    "torch.utils.data._utils.fetch:_IterableDatasetFetcher": "makes a data worker's batches",
    "torch.utils.data._utils.fetch:_MapDatasetFetcher": "makes a data worker's batches",
    "torch.utils.data._utils.pin_memory:pin_memory": "copies a batch to pinned memory",
    "torch.utils.data._utils.worker:WorkerInfo": "describes a data worker",
    "torch.utils.data._utils.worker:_worker_loop": "is what a data worker runs",
    "torch.utils.data._utils.worker:_worker_info": "is what get_worker_info() returns",
    "torch.utils.data.dataloader:DataLoader._get_iterator": "begins an epoch",
    _ITERATOR: "is the base of iterators over batches",
    f"{_ITERATOR}._next_index": "draws the samples of a batch",
    f"{_ITERATOR}._next_data": "makes the next batch",
    f"{_ITERATOR}._reset": "begins another epoch",
}
"""By name, what is lost without it; to follow "which"."""

ITERATOR_FIELDS: Mapping[str, str] = {
    "_IterableDataset_len_called": "holds the length that the dataset tells",
    "_auto_collation": "tells whether samples are put together",
    "_num_yielded": "counts the batches",
    "_pin_memory": "tells whether batches are pinned",
    "_pin_memory_device": "tells for which device they are",
    "_timeout": "is how long a batch is waited for",
}
"""What torch's iterators hold once they are made, by name; as above."""


def needed(name: str) -> Any:  # noqa: ANN401  whatever it stands for
    """Return what a name of ``WHAT_FOR`` stands for.

    Raises:
        DataServiceError: This torch does not have it.
    """
    return needed_name(name, WHAT_FOR, error=DataServiceError, instead=_INSTEAD)


def optional(name: str) -> Any:  # noqa: ANN401  as above
    """Return what a name of ``WHAT_FOR`` stands for; None: this torch does not have it."""
    assert name in WHAT_FOR  # noqa: S101  so that its absence is tested
    try:
        return private_name(name)
    except LookupError:
        return None


def check_fields(iterator: object) -> None:
    """Make sure that an iterator holds what we read of it.

    Raises:
        DataServiceError: It does not, because this torch is another one.
    """
    for field, what_for in ITERATOR_FIELDS.items():
        if not hasattr(iterator, field):
            name = f"{_ITERATOR}.{field}"
            raise DataServiceError(lacking(name, what_for, instead=_INSTEAD))
