"""Whether this process computes gradients now, and since when."""

from __future__ import annotations

import functools
import time
from typing import Any

import torch


class Backward:
    """The backward pass of this process."""

    began_s = 0.0
    """When the last outermost ``backward()`` began, as ``time.perf_counter`` tells."""

    depth = 0
    """Calls of ``backward()`` that go on, one inside the other; 0: none does."""


def note_backward() -> None:
    """Keep ``Backward`` from now on. Twice is once."""
    plain = torch.autograd.backward
    if getattr(plain, "_smtc_notes", False):
        return

    @functools.wraps(plain)
    def backward(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's own arguments
        if not Backward.depth:
            Backward.began_s = time.perf_counter()
        Backward.depth += 1
        try:
            plain(*args, **kwargs)
        finally:
            Backward.depth -= 1

    noting: Any = backward
    noting._smtc_notes = True  # noqa: SLF001  our own
    torch.autograd.backward = noting
