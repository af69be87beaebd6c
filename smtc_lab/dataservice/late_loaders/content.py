"""Tells whether a dataset holds now what it held before, without keeping any of it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Collection

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_SEEN_ELEMENTS = 2**16


def content_of(dataset: object) -> dict[str, object]:
    """Return what is equal for as long as a dataset's attributes are.

    Of a container with other things than plain values in it nobody knows: it is never equal.
    Nobody looks into other objects, which are equal to themselves.
    """
    return {name: content(value) for name, value in vars(dataset).items()}


def content(value: Any) -> object:  # noqa: ANN401, PLR0911  any attribute
    """Return what is equal for as long as a value holds the same; see ``content_of``."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return object() if value.is_inference() else (id(value), value._version)  # noqa: SLF001  the only count of changes
    if kind is np.ndarray:
        flat = value.reshape(-1)
        some = flat[:: max(1, flat.size // _SEEN_ELEMENTS)]
        return object() if value.dtype.hasobject else (value.shape, hash(some.tobytes()))
    if kind in {list, tuple}:
        return (kind, _hash(value))
    if kind is dict:
        return (kind, _hash(value), _hash(value.values()))
    if kind in {set, frozenset}:
        return (kind, _hash(sorted(map(hash, value)))) if _are_plain(value) else object()
    return id(value)


def _hash(values: Collection[Any]) -> object:
    """Return a number of plain values, or of tuples of these; else what equals nothing."""
    kinds = set(map(type, values))
    if kinds == {tuple}:
        return hash(tuple(values)) if _are_plain(chain.from_iterable(values)) else object()
    return hash(tuple(values)) if kinds <= _PLAIN else object()


def _are_plain(values: Any) -> bool:  # noqa: ANN401  an iterable
    return set(map(type, values)) <= _PLAIN
