"""Looks whether what batches are made of stays what it was.

With ``num_workers=0`` torch makes batches in the trainer, in turn with its steps, and scripts
rely on it: a buffer that grows, a dataset that keeps what it has read, an order that follows
the losses. Elsewhere such batches would be others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.dataservice.recipe.packing import digest_of, pickled

if TYPE_CHECKING:
    from smtc_lab.dataservice.source import LoaderSource


class DatasetWatch:
    """A loader's dataset and ``collate_fn`` as they were, attribute by attribute."""

    def __init__(self, source: LoaderSource) -> None:
        self._source = source
        self._before = _digests(source)

    @staticmethod
    def is_due(batches: int) -> bool:
        """Return whether to look after so many batches: 1, 2, 4, 8 and so on."""
        return batches > 0 and batches & (batches - 1) == 0

    def changed(self) -> str | None:
        """Return what has changed since, as a path; None: nothing has."""
        now = _digests(self._source)
        if now == self._before:
            return None
        names = [*self._before, *now]
        return next(name for name in names if now.get(name) != self._before.get(name))


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
        return b"-"
    return digest_of(body, buffers)
