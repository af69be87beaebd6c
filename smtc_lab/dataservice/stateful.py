"""torchdata's ``StatefulDataLoader``, made of our dataloader.

torchdata's own brings iterators of its own, which know nothing of data servers. Ours need less
of a state: who made a batch changes nothing in it, so the place in the epoch says all.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.utils.data import IterableDataset

from smtc_lab.dataservice.source import is_map_style
from smtc_lab.errors import DataServiceError

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
        self._progress: _PassProgress | None = None
        self._begin: dict[str, Any] = {}
        self._resumed: Mapping[str, Any] | None = None

    def __iter__(self) -> Any:  # noqa: ANN401  torch returns its own iterator
        """Begin the next pass; the first one after ``load_state_dict`` goes on where that was.

        Over a map-style dataset nothing is made twice for it; the streams of an iterable-style
        one are iterated up to there.
        """
        said, self._resumed = self._resumed, None
        now = _random_states(self)
        if said is not None:
            self.epoch = said["epoch"]
        self._begin = {"epoch": self.epoch, "random": now}
        num_done = 0 if said is None else said["batches"]
        if said is not None and num_done:
            self._begin["random"] = said["random"]
            _set_random_states(self, said["random"])
        self.first_batch = num_done if is_map_style(self) else 0
        try:
            batches = super().__iter__()
            if self.first_batch or not is_map_style(self):  # nobody has left them out
                for _ in range(num_done):
                    next(batches)
        finally:
            self.first_batch = 0
            if num_done:  # the trainer's own numbers go on as they were
                torch.set_rng_state(now["torch"])
        self._progress = _PassProgress(num_done)
        return _CountedBatches(batches, self._progress)

    def state_dict(self) -> dict[str, Any]:
        """Return where the pass that began last stands, as plain values and tensors."""
        if self._resumed is not None:
            return dict(self._resumed)
        progress = self._progress
        if progress is None or progress.is_complete:
            return {"epoch": self.epoch, "batches": 0, "random": _random_states(self)}
        return {**self._begin, "batches": progress.batches}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Let the next pass go on where a state was taken; the arguments must be the same.

        Raises:
            DataServiceError: The state is another loader's.
        """
        if not {"epoch", "batches", "random"} <= set(state_dict):
            raise DataServiceError(
                f"The state has the fields {sorted(map(str, state_dict))}, but needs epoch, "
                "batches and random: torchdata's own loader wrote it. Resume from the begin of "
                "an epoch."
            )
        self._resumed = dict(state_dict)
        self._progress = None


class _PassProgress:
    """How far a pass is."""

    def __init__(self, batches: int) -> None:
        self.batches = batches
        self.is_complete = False


class _CountedBatches(Iterator[Any]):
    """The batches of one pass, counted elsewhere, so that it ends when nobody has it."""

    def __init__(self, batches: Iterator[Any], progress: _PassProgress) -> None:
        self._batches = batches
        self._progress = progress

    def __next__(self) -> Any:  # noqa: ANN401  a batch
        try:
            batch = next(self._batches)
        except StopIteration:
            self._progress.is_complete = True
            raise
        self._progress.batches += 1
        return batch

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]  # torch's iterators have it


def stateful(base: Any) -> type[Any]:  # noqa: ANN401  a class that is indexed at run time
    """Return a class like torchdata's, as generic as that, over a dataloader class of ours."""
    made: type[Any] = types.new_class("StatefulDataLoader", (StatefulMixin, base[_T_co]), {})
    made.__doc__ = StatefulMixin.__doc__
    return made


def _random_states(loader: Any) -> dict[str, Any]:  # noqa: ANN401  a loader
    """Return the state of each generator that a sampler may draw an order from."""
    generators = (loader.generator, getattr(loader.sampler, "generator", None))
    return {
        "torch": torch.get_rng_state(),
        "generators": [None if one is None else one.get_state() for one in generators],
    }


def _set_random_states(loader: Any, states: Mapping[str, Any]) -> None:  # noqa: ANN401  a loader
    torch.set_rng_state(states["torch"])
    generators = (loader.generator, getattr(loader.sampler, "generator", None))
    for one, state in zip(generators, states["generators"], strict=True):
        if one is not None and state is not None:
            one.set_state(state)
