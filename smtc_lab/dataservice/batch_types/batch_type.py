"""One type of what a batch may hold: what it is taken apart to, and how it is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Taken(NamedTuple):
    """A value that was taken apart."""

    head: list[object]
    """What is plain: None, booleans, numbers, text, and lists of these."""

    parts: list[object]
    """Values that can be sent by themselves."""


class BatchType(NamedTuple):
    """One type. What makes an object again runs no code of a class that it was told of."""

    name: str
    """What descriptions call it."""

    matches: Callable[[type], bool]
    """Returns whether a class is meant."""

    take: Callable[[Any], Taken | None]
    """Takes a value apart; None: this one does not travel as this type."""

    make: Callable[[list[Any], list[Any]], object]
    """Makes the value of a head and parts; raises anything for those of no such value."""


def exactly(*kinds: type) -> Callable[[type], bool]:
    """Return what matches these classes, and none that is derived from them."""
    return lambda kind: kind in kinds


def plain_text(value: object) -> str:
    """Return a text of a head.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value


def of_text(kind: type, name: str, make: Callable[[str], object]) -> BatchType:
    """Return the type of objects that their text says whole."""
    return BatchType(
        name,
        exactly(kind),
        lambda value: Taken([str(value)], []),
        lambda head, _: make(plain_text(head[0])),
    )
