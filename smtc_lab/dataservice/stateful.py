"""torchdata's ``StatefulDataLoader``, made of our dataloader.

torchdata's own brings iterators of its own, which know nothing of data servers.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any, TypeVar

from torch.utils.data import IterableDataset

from smtc_lab.dataservice.pass_place import PassPlace, check_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.dataservice.dataloader import DataLoader

    _Base = DataLoader[Any]
else:
    _Base = object

_T_co = TypeVar("_T_co", covariant=True)


class StatefulMixin(_Base):
    """A dataloader that says where it stands, and goes on from there."""

    def __init__(  # noqa: PLR0913  torch's own arguments, in torch's order
        self,
        dataset: Any,  # noqa: ANN401  as our dataloader
        batch_size: int | None = 1,
        shuffle: bool | None = None,  # noqa: FBT001  torch's signature
        sampler: Any = None,  # noqa: ANN401  as our dataloader
        batch_sampler: Any = None,  # noqa: ANN401  as our dataloader
        *args: Any,  # noqa: ANN401  as our dataloader
        snapshot_every_n_steps: int | None = 1,
        **kwargs: Any,  # noqa: ANN401  as our dataloader
    ) -> None:
        theirs = sys.modules.get("torchdata.stateful_dataloader.sampler")
        is_map = not isinstance(dataset, IterableDataset)
        if shuffle and theirs is not None and is_map and sampler is batch_sampler is None:
            # Its order comes from a generator of its own, seeded when the loader is made.
            generator = kwargs.get("generator", args[7] if len(args) > 7 else None)
            shuffle, sampler = None, theirs.RandomSampler(dataset, generator=generator)
        super().__init__(dataset, batch_size, shuffle, sampler, batch_sampler, *args, **kwargs)
        self.snapshot_every_n_steps = snapshot_every_n_steps
        """Taken, and of no effect: a state costs nothing here."""
        self._passes = PassPlace()
        self._resumed: Mapping[str, Any] | None = None

    def __iter__(self) -> Any:  # noqa: ANN401  torch returns its own iterator
        """Begin the next pass; the first one after ``load_state_dict`` goes on where that was.

        Over a map-style dataset nothing is made twice for it; the streams of an iterable-style
        one are iterated up to there.
        """
        said, self._resumed = self._resumed, None
        return self._passes.begin(self, said, super().__iter__)

    def state_dict(self) -> dict[str, Any]:
        """Return where the pass that began last stands, as plain values and tensors."""
        return self._passes.state(self) if self._resumed is None else dict(self._resumed)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Let the next pass go on where a state was taken; the arguments must be the same.

        Raises:
            DataServiceError: The state is another loader's.
        """
        check_place(state_dict)
        self._resumed = dict(state_dict)
        self._passes = PassPlace()


def stateful(base: Any) -> type[Any]:  # noqa: ANN401  a class that is indexed at run time
    """Return a class like torchdata's, as generic as that, over a dataloader class of ours."""
    made: type[Any] = types.new_class("StatefulDataLoader", (StatefulMixin, base[_T_co]), {})
    made.__doc__ = StatefulMixin.__doc__
    return made
