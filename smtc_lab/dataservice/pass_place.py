"""Where a pass over a dataloader stands, and how another process goes on from there.

Who made a batch changes nothing in it, so the place in the epoch says all: number of the pass,
batches that were delivered, and the random numbers that the order was drawn from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader as TorchLoader

from smtc_lab.dataservice.iterating.iterators import IteratedLoader
from smtc_lab.dataservice.source import is_map_style
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FIELDS = {"epoch", "batches", "random"}


class PassPlace:
    """Follows the passes over one loader, and does not keep it."""

    def __init__(self) -> None:
        self._begin: dict[str, Any] = {}
        self._progress: _PassProgress | None = None

    def begin(
        self,
        loader: Any,  # noqa: ANN401  any dataloader
        said: Mapping[str, Any] | None,
        iterate: Callable[[], Iterator[Any]],
    ) -> Iterator[Any]:
        """Return the batches of the next pass.

        Of one that goes on nothing is made twice where a dataset is map-style and the loader
        ours, or torch's own without data workers; else it is iterated up to there: what its
        workers or streams have drawn is known to them alone.

        Args:
            loader: The loader.
            said: What ``state`` returned, where the pass goes on; None: it begins.
            iterate: Begins a pass over the loader.
        """
        is_ours = isinstance(loader, IteratedLoader)
        now = random_states(loader)
        if said is not None and is_ours:
            loader.epoch = said["epoch"]
        self._begin = _beginning(loader)
        num_done = 0 if said is None else int(said["batches"])
        if said is not None and num_done:
            self._begin["random"] = said["random"]
            _set_random_states(loader, said["random"])
        if said is not None and "sampler" in said:
            self._begin["sampler"] = said["sampler"]
            _set_sampler_epoch(loader, said["sampler"])
        skips = is_ours and is_map_style(loader)
        if skips:
            loader.first_batch = num_done
        if said is not None and "reset" in said:
            self._reset(loader, said, iterate)
        try:
            rest = _without_first(loader, num_done)
            batches = iterate() if rest is None else rest
            are_left_out = rest is not None or (skips and not loader.first_batch)
            if not are_left_out:
                for _ in range(num_done):
                    next(batches)
        finally:
            if is_ours:  # torch's own iterators take neither
                loader.first_batch, loader.is_reset = 0, False
            if num_done:  # the trainer's own numbers go on as they were
                torch.set_rng_state(now["torch"])
        self._progress = _PassProgress(num_done)
        return _CountedBatches(batches, self._progress)

    def _reset(
        self,
        loader: Any,  # noqa: ANN401  as above
        said: Mapping[str, Any],
        iterate: Callable[[], Iterator[Any]],
    ) -> None:
        """Let the pass begin as one of data workers that were there already."""
        self._begin["reset"] = True
        is_new = not _persists(loader)
        if isinstance(loader, IteratedLoader):
            loader.is_reset = is_new
        elif is_new:
            iterate()  # torch's own draw in another order in their first pass
            _set_random_states(loader, said["random"])

    def state(self, loader: Any, *, of_next: bool = True) -> dict[str, Any]:  # noqa: ANN401  as above
        """Return where the pass that began last stands, as plain values and tensors.

        Args:
            loader: The loader.
            of_next: Whether a pass that is over counts as the begin of the next one, as
                torchdata's loader has it.
        """
        progress = self._progress
        if progress is None or (of_next and progress.is_complete):
            return {**_beginning(loader), "batches": 0}
        return {**self._begin, "batches": progress.batches}


class _BegunSampler:
    """A batch sampler whose pass has begun."""

    def __init__(self, sampler: Any) -> None:  # noqa: ANN401  any batch sampler
        self._sampler = sampler
        self.batches: Iterator[Any] = iter(sampler)

    def __iter__(self) -> Iterator[Any]:
        return self.batches

    def __len__(self) -> int:
        return len(self._sampler)


def _without_first(loader: Any, num_first: int) -> Iterator[Any] | None:  # noqa: ANN401  as above
    """Return what is left of a pass over a loader of torch's; None: it cannot be known.

    The order is drawn as the loader draws it. Without data workers samples draw from the random
    numbers of the process, which a checkpoint has.
    """
    # in a job with data servers torch's names are those of ours
    is_torchs = type(loader) is TorchLoader and not isinstance(loader, IteratedLoader)
    is_known = is_torchs and not loader.num_workers and is_map_style(loader)
    if not num_first or not is_known or loader.batch_sampler is None:
        return None
    sampler = _BegunSampler(loader.batch_sampler)
    rest: TorchLoader[Any] = TorchLoader(
        loader.dataset,
        batch_sampler=sampler,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        generator=loader.generator,
    )
    batches = iter(rest)
    deque(islice(sampler.batches, num_first), maxlen=0)
    return batches


def check_place(state: Mapping[str, Any]) -> None:
    """Refuse what is no state of ours.

    Raises:
        DataServiceError: The state is another loader's.
    """
    if not set(state) >= _FIELDS:
        raise DataServiceError(
            f"The state has the fields {sorted(map(str, state))}, but needs epoch, "
            "batches and random: torchdata's own loader wrote it. Resume from the begin of "
            "an epoch."
        )


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


def _beginning(loader: Any) -> dict[str, Any]:  # noqa: ANN401  a loader
    sampler = _sampler_epoch(loader)
    return {
        "epoch": int(loader.epoch) if isinstance(loader, IteratedLoader) else 0,
        "random": random_states(loader),
        **({} if sampler is None else {"sampler": sampler}),
        **({"reset": True} if _persists(loader) else {}),
    }


def _persists(loader: Any) -> bool:  # noqa: ANN401  a loader
    """Whether the next pass asks data workers that are there already."""
    return loader.num_workers > 0 and getattr(loader, "_iterator", None) is not None


def random_states(loader: Any) -> dict[str, Any]:  # noqa: ANN401  a loader
    """Return the state of each generator that a sampler may draw an order from."""
    return {
        "torch": torch.get_rng_state(),
        "generators": [None if one is None else one.get_state() for one in _generators(loader)],
    }


def _set_random_states(loader: Any, states: Mapping[str, Any]) -> None:  # noqa: ANN401  a loader
    torch.set_rng_state(states["torch"])
    for one, state in zip(_generators(loader), states["generators"], strict=True):
        if one is not None and state is not None:
            one.set_state(state)


def _generators(loader: Any) -> tuple[torch.Generator | None, torch.Generator | None]:  # noqa: ANN401
    found = _asked(loader.sampler, "generator")
    return (loader.generator, found if isinstance(found, torch.Generator) else None)


def _asked(sampler: object, name: str) -> Any:  # noqa: ANN401  whatever it has
    """Return an attribute of a sampler, which may be the script's own; None: it has none."""
    try:
        return getattr(sampler, name, None)
    except Exception:  # noqa: BLE001  the script's own class may raise anything
        return None


def _counting(loader: Any) -> list[Any]:  # noqa: ANN401  a loader
    """Return the samplers that number their passes, such as ``DistributedSampler``."""
    found = (loader.batch_sampler, loader.sampler)
    return [one for one in found if isinstance(_asked(one, "epoch"), int)]


def _sampler_epoch(loader: Any) -> int | None:  # noqa: ANN401  a loader
    counting = _counting(loader)
    return counting[0].epoch if counting else None


def _set_sampler_epoch(loader: Any, epoch: int) -> None:  # noqa: ANN401  a loader
    for one in _counting(loader):
        one.epoch = epoch
