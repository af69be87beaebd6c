"""The base of torch's iterators over batches, with as much of it as we use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.torch_names import check_fields, needed

if TYPE_CHECKING:
    from torch.utils.data import DataLoader

    class _TorchBase:
        _IterableDataset_len_called: int | None
        _auto_collation: bool
        _num_yielded: int
        _pin_memory: bool
        _pin_memory_device: str | None
        _rank: int
        _timeout: float

        def __init__(self, loader: DataLoader[Any]) -> None: ...
        def __next__(self) -> object: ...
        def _next_data(self) -> object: ...
        def _next_index(self) -> Any: ...  # noqa: ANN401  whatever the sampler yields
        def _reset(self, loader: Any, first_iter: bool = False) -> None: ...  # noqa: ANN401, FBT001, FBT002  torch's signature

else:
    _TorchBase = needed("torch.utils.data.dataloader:_BaseDataLoaderIter")
    for _method in ("_next_data", "_next_index", "_reset"):
        needed(f"torch.utils.data.dataloader:_BaseDataLoaderIter.{_method}")


class TorchIterator(_TorchBase):
    """Torch's own iterator, which holds what we read of it."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        """Begin an epoch.

        Raises:
            DataServiceError: This torch's iterators are other ones.
        """
        super().__init__(loader)
        check_fields(self)
