"""Looks whether what batches are made of stays what it was.

With ``num_workers=0`` torch makes batches in the trainer, in turn with its steps, and scripts
rely on it: a buffer that grows, a dataset that keeps what it has read, an order that follows
the losses. Elsewhere such batches would be others.
"""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.recipe.packing import digest_of, pickled

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.source import LoaderSource


_UNTOLD = b"-"
"""Stands for what cannot be packed by itself."""


class DatasetWatch:
    """A loader's dataset and ``collate_fn`` as they were, attribute by attribute."""

    def __init__(self, source: LoaderSource) -> None:
        self._source = source
        self._before = self._now = _digests(source)

    @staticmethod
    def is_due(batches: int) -> bool:
        """Return whether to look after so many batches: 1, 2, 4, 8 and so on."""
        return batches > 0 and batches & (batches - 1) == 0

    def changed(self) -> str | None:
        """Return what has changed since, as a path; None: nothing has."""
        now = self._now = _digests(self._source)
        if now == self._before:
            return None
        names = [*self._before, *now]
        return next(name for name in names if now.get(name) != self._before.get(name))

    def settled(
        self, first: str, make: Callable[[Any], object], indices: object, batch: object
    ) -> tuple[object, str | None]:
        """Return the first batch again, and what batches go on to change; None: nothing.

        What a first batch changes may be set up once for all. Then other samples change nothing
        more, and the same ones are what they were. A cache would hold the other ones, too.

        Args:
            first: What ``changed`` has just returned: what the first batch has changed.
            make: Makes the batch of some samples, as they stand at one place.
            indices: Those of the first batch.
            batch: The first batch.
        """
        was, self._before = _digest(batch), self._now
        try:
            others = _others(self._source, indices)
            if others is not None:
                make(others)
            again = make(indices)
        except Exception:  # noqa: BLE001  whatever other samples raise, they tell nothing
            return batch, first
        if (changed := self.changed()) is not None:
            return again, changed
        return again, None if was != _UNTOLD and _digest(again) == was else first


def _others(source: LoaderSource, indices: Any) -> object:  # noqa: ANN401  whatever a sampler yields
    """Return as many other samples of a dataset; None: it has none.

    Raises:
        TypeError: Its samples have no numbers.
    """
    taken = set(map(operator.index, indices if source.auto_collation else [indices]))
    numbers = (number for number in range(source.num_samples or 0) if number not in taken)
    found = list(itertools.islice(numbers, len(taken)))
    return (found if source.auto_collation else found[0]) if found else None


def _digests(source: LoaderSource) -> dict[str, bytes]:
    dataset = source.dataset
    attributes = getattr(dataset, "__dict__", None)
    parts = {"collate_fn": source.collate_fn, "the class of dataset": type(dataset)}
    if type(attributes) is dict:
        parts |= {f"dataset.{name}": part for name, part in attributes.items()}
    else:
        parts["dataset"] = dataset
    return {name: _digest(part) for name, part in parts.items()}


def _digest(part: object) -> bytes:
    try:
        body, buffers, *_ = pickled(part)
    except Exception:  # noqa: BLE001  anything that a class may raise: it is not packed by itself
        return _UNTOLD
    return digest_of(body, buffers)
