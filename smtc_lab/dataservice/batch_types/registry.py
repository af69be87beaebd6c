"""All types that batches may hold; a script may register its own.

A description ``["x", name, head, part, …]`` names one of them: the head is plain JSON, the
parts are described like any other value. No class is found that this process has not imported.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.batch_types.batch_type import BatchType, Taken
from smtc_lab.dataservice.batch_types.plain import OF_SCRIPT, PLAIN_TYPES
from smtc_lab.dataservice.batch_types.tensors import TENSOR_TYPES
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

_types = {one.name: one for one in (*TENSOR_TYPES, *PLAIN_TYPES)}
_registered: dict[type, BatchType] = {}
_given: dict[type, tuple[Callable[[object], object], Callable[[object], object]]] = {}


def register_type(
    kind: type, *, take: Callable[[object], object], make: Callable[[object], object]
) -> None:
    """Let objects of a class travel in batches; call it where the script defines the class.

    Args:
        kind: The class itself; objects of classes derived from it are not meant.
        take: Returns what stands for an object: any value that can be sent, such as a dict of
            tensors.
        make: Returns the object for that value.

    Raises:
        DataServiceError: ``kind`` is no class.
    """
    if not isinstance(kind, type):
        raise DataServiceError(
            f"register_type got {kind!r}, but needs a class. Give the class of the objects."
        )
    name = f"{kind.__module__}.{kind.__qualname__}"
    _registered[kind] = _types[name] = BatchType(
        name,
        lambda it: it is kind,
        lambda value: Taken([], [take(value)]),
        lambda _, parts: make(parts[0]),
    )
    _given[kind] = take, make
    _types_of.cache_clear()


def registered_types() -> list[tuple[type, Any, Any]]:
    """Return what scripts have registered: class, ``take`` and ``make``."""
    return [(kind, *functions) for kind, functions in _given.items()]


def taken_apart(value: object, *, pickles: bool = False) -> tuple[str, Taken] | None:
    """Return the name of a value's type, and what it is made of; None: it has none here.

    Args:
        value: Any object.
        pickles: Whether what has no type is pickled; then an object of the script's has none.
    """
    kind: Any = type(value)
    for one in _types_of(kind):
        if pickles and one.name == OF_SCRIPT:
            continue
        taken = one.take(value)
        if taken is not None:
            return one.name, taken
    return None


@functools.lru_cache(maxsize=256)
def _types_of(kind: Any) -> tuple[BatchType, ...]:  # noqa: ANN401  a class; lru_cache wants it so
    if kind in _registered:
        return (_registered[kind],)
    return tuple(one for one in _types.values() if one.matches(kind))


def is_known(name: object) -> bool:
    """Return whether a type has this name."""
    return type(name) is str and name in _types


def made_again(name: str, head: list[object], parts: list[object]) -> object:
    """Return the value of a type; raises anything for a head and parts of no such value."""
    return _types[name].make(head, parts)
