"""The shapes of a batch, without asking the script's own classes for attributes."""

from __future__ import annotations

from typing import Any

import torch

from smtc_lab.compiler.xla.counters import shapes_of


class AttributeDict(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Graph:
    """Raises KeyError for what it lacks."""

    def __getattr__(self, name: str) -> object:
        raise KeyError(name)


def test_batches_of_any_class_have_their_shapes_told() -> None:
    batch = [AttributeDict(x=torch.zeros(4, 2)), Graph()]

    assert shapes_of(batch) == {"batch[0]['x']": (4, 2)}
