"""The state of every generator of random numbers of a process."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping


def random_numbers() -> dict[str, Any]:
    """Return the state of Python's, numpy's and torch's generators, as plain values."""
    kind, *rest = np.random.get_state(legacy=True)  # noqa: NPY002  scripts use it
    keys, position, has_gauss, gauss = cast("tuple[Any, int, int, float]", tuple(rest))
    has_cuda = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch's own
    return {
        "python": random.getstate(),
        "numpy": (
            str(kind),
            torch.from_numpy(keys.astype(np.int64)),
            position,
            has_gauss,
            gauss,
        ),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if has_cuda else [],
    }


def set_random_numbers(state: Mapping[str, Any]) -> None:
    """Let all generators go on from a state.

    Devices that are not there, or whose generators were not used, are left as they are.
    """
    random.setstate(state["python"])
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), *rest))  # noqa: NPY002  as above
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available():
        for device, one in zip(range(torch.cuda.device_count()), state["cuda"], strict=False):
            torch.cuda.set_rng_state(one, device)
