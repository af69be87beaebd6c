"""How many samples a batch has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any

_MOST_PARTS = 16
"""A tensor is among the first parts of any ordinary batch."""

_MOST_SIBLINGS = 8
"""Parts of one container that are looked at."""


def num_samples_of(batch: object) -> int | None:
    """Return the samples in a batch: the length of its first tensor, or None if unknown.

    A batch without a tensor has the length of its first part of another class with
    ``__len__``, for example an array.

    The batch is the script's, so it is not asked for any attribute: one may be missing, mean
    something else, or raise anything. Whatever goes wrong, the samples are unknown.
    """
    try:
        return _num_samples_of(batch)
    except Exception:  # noqa: BLE001  the script's own classes may raise anything
        return None


def _num_samples_of(batch: object) -> int | None:
    tensor: Any = sys.modules["torch"].Tensor if "torch" in sys.modules else ()
    pending = [batch]
    sized: Any = None
    for _ in range(_MOST_PARTS):
        if not pending:
            break
        item: Any = pending.pop()
        kind = type(item)  # isinstance would ask the object for its class
        if issubclass(kind, tensor):
            return len(item)
        if issubclass(kind, Mapping):
            pending.extend(reversed([*islice(item.values(), _MOST_SIBLINGS)]))
        elif issubclass(kind, list | tuple):
            pending.extend(reversed([*islice(item, _MOST_SIBLINGS)]))
        elif sized is None and _counts_samples(kind):
            sized = item
    return None if sized is None else len(sized)


def _counts_samples(kind: type) -> bool:
    """Return whether the length of a class's objects is likely one of samples.

    Not that of a text, nor of what has keys: a graph of PyTorch Geometric counts its
    attributes.
    """
    has_length = any("__len__" in vars(base) for base in kind.__mro__)
    has_keys = any("keys" in vars(base) for base in kind.__mro__)
    return has_length and not has_keys and not issubclass(kind, str | bytes)
