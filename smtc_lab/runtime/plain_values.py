"""What a checkpoint may hold: what can be read again without running anybody's code."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import torch

from smtc_lab.errors import EntryPointError

_AS_THEY_ARE = {
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    torch.dtype,
    torch.device,
    torch.Size,
}
_DICTS = {dict, OrderedDict, Counter}


def plain(value: Any, where: str = "") -> Any:  # noqa: ANN401  any state
    """Return a state with numpy's numbers as Python's, after a look at all of it.

    Args:
        value: A state: tensors, numbers, text, and lists, tuples and dicts of them.
        where: What it is called in messages.

    Raises:
        EntryPointError: Something in it could not be loaded again; says where it stands.
    """
    if isinstance(value, np.generic) and isinstance(
        value.item(), (bool, int, float, str, bytes)
    ):
        return value.item()
    kind = type(value)
    if kind in _AS_THEY_ARE or isinstance(value, torch.Tensor):
        return value
    if kind in _DICTS:
        found = {
            plain(key, where): plain(one, f"{where}[{key!r}]") for key, one in value.items()
        }
        return kind(found)
    if kind in {list, tuple}:
        return kind(plain(one, f"{where}[{number}]") for number, one in enumerate(value))
    if kind is set:
        return {plain(one, where) for one in value}
    raise EntryPointError(
        f"A checkpoint cannot hold {where or 'this'}, which is of type {kind.__module__}."
        f"{kind.__qualname__}: reading it again could run code. {_remedy(value)}"
    )


def _remedy(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "Save torch.from_numpy(…) of it, and load it with .numpy()."
    if callable(getattr(value, "state_dict", None)):
        return "Save its state_dict()."
    return "Save tensors, numbers, text, and lists, tuples and dicts of them."
