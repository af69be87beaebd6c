"""Errors of samples that are what the dataset raised as well, for the script's own handlers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from smtc_lab.errors import SampleError


def sample_error(message: str, kind: type | None) -> SampleError:
    """Return a ``SampleError`` that ``except`` clauses for another class catch, too.

    Nothing of that class is called: its instances hold the message, and nothing else.

    Args:
        message: What it says.
        kind: Class of what the dataset raised; None: it is not known here.
    """
    made = None if kind is None else _both(kind)
    if made is None:
        return SampleError(message)
    base: Any = made
    while base.__module__ != "builtins":  # whose layout its instances have
        base = base.__base__
    error: SampleError = base.__new__(made)
    error.args = (message,)
    return error


@lru_cache(maxsize=256)
def _both(kind: type) -> type[SampleError] | None:
    """Return a class that is a ``SampleError`` and another one; None: there can be none."""
    # A StopIteration would end the loop over the batches, as if they had run out.
    if not issubclass(kind, Exception) or issubclass(kind, StopIteration | StopAsyncIteration):
        return None
    if issubclass(SampleError, kind):
        return SampleError
    content = {
        "__module__": SampleError.__module__,
        "__str__": _said,
        "__reduce__": _reduced,
        "__doc__": SampleError.__doc__,
    }
    try:
        return type("SampleError", (SampleError, kind), content)
    except TypeError:  # their instances are laid out differently
        return None


def _said(error: SampleError) -> str:
    return str(error.args[0]) if error.args else ""


def _reduced(error: SampleError) -> tuple[object, ...]:
    return SampleError, (_said(error),)  # whoever reads the pickle may not have the class
