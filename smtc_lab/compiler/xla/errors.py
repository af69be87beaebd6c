"""Errors of XLA, in words that say what to do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_INSTEAD = 'Choose backend="inductor" or backend="eager"'
_OUT_OF_MEMORY = ("Out of memory", "RESOURCE_EXHAUSTED", "can't allocate memory", "bad_alloc")
_OF_XLA = (
    "XLA",
    "xla",
    "StatusOr",
    "INTERNAL:",
    "UNIMPLEMENTED",
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
)


@contextmanager
def explained(device: torch.device) -> Iterator[None]:
    """Raise what XLA refuses as a ``CompilerError``; errors of the script stay as they are.

    Args:
        device: The XLA device, for the messages.

    Raises:
        CompilerError: XLA ran out of memory, or cannot compile or run the step.
    """
    try:
        yield
    except (RuntimeError, ValueError, MemoryError) as error:
        text = str(error)
        if isinstance(error, MemoryError) or any(sign in text for sign in _OUT_OF_MEMORY):
            raise CompilerError(
                f"XLA ran out of memory on {device}: {_first_line(text)}. What was pending is "
                "lost and later steps of this process would fail too, so it must end. Make "
                f"the batch smaller and start again. {_INSTEAD} needs less memory on CPU."
            ) from error
        if any(sign in text for sign in _OF_XLA):
            raise CompilerError(
                f"XLA cannot compile or run the step on {device}: {_first_line(text)}. "
                f"{_INSTEAD}."
            ) from error
        raise


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "no further message"
