"""Nested batches as a JSON description and raw buffers, without pickle.

Plain values stand for themselves. Everything else is a list that begins with a tag: ``["l",
…]`` list, ``["t", …]`` tuple, ``["d", key, value, …]`` dict, ``["o", …]`` OrderedDict, ``["n",
module, name, fields, …]`` named tuple, ``["x", type, head, …]`` another known type (see
``smtc_lab.dataservice.batch_types``), and the leaves (see
``smtc_lab.dataservice.protocol.leaves``), whose bytes follow the description in the order in
which they appear in it.
"""

from __future__ import annotations

import reprlib
from collections import OrderedDict, namedtuple
from functools import lru_cache
from typing import TYPE_CHECKING

from smtc_lab.dataservice.batch_types.known import known_class
from smtc_lab.dataservice.batch_types.registry import is_known, made_again, taken_apart
from smtc_lab.dataservice.protocol.leaves import Leaf, encode_leaf, parse_leaf
from smtc_lab.dataservice.protocol.pickles import cannot_be_sent, encode_pickle
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.dataservice.protocol.leaves import Share

MAX_DEPTH = 64
"""The deepest nesting of a batch."""

_PLAIN = frozenset({type(None), bool, int, float, str})
_TAGS: dict[type[object], str] = {list: "l", tuple: "t", dict: "d", OrderedDict: "o"}
_MAX_FIELDS = 1024


def encode(
    value: object, share: Share | None = None, *, pickles: bool = False
) -> tuple[object, list[memoryview]]:
    """Return the description of a batch, and the memory of its tensors without a copy.

    Args:
        value: Nested dicts, lists, tuples and named tuples of tensors, numpy arrays, numbers,
            text, bytes, booleans, None and what ``batch_types`` knows.
        share: Returns where in memory that the peer sees a tensor lies, or None. What it takes
            is described, but not among the returned memory.
        pickles: Whether objects of other types are pickled.

    Raises:
        DataServiceError: It holds an object of another type; the message names it.
    """
    buffers: list[memoryview] = []
    return _encode(value, buffers, share, 0, pickles), buffers


def parse(description: object) -> list[Leaf]:
    """Return the leaves of a description from the network, in order, after every check.

    Raises:
        ProtocolError: The description is not one of ours.
    """
    leaves: list[Leaf] = []
    _parse(description, leaves, 0)
    return leaves


def build(description: object, leaves: Iterator[object]) -> object:
    """Return the batch that a parsed description and its finished leaves make.

    Raises:
        ProtocolError: A key of a dict cannot be a key.
    """
    try:
        return _build(description, leaves)
    except TypeError as error:
        raise ProtocolError(
            f"A message describes a dict with a key that cannot be one ({error}). The peer is "
            "not a data server of this version."
        ) from error


def _encode(  # noqa: PLR0911  a table of what can be sent
    value: object,
    buffers: list[memoryview],
    share: Share | None,
    depth: int,
    pickles: bool,  # noqa: FBT001  called for each part
) -> object:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth >= MAX_DEPTH:
        raise DataServiceError(
            f"The batch is nested more than {MAX_DEPTH} deep, which cannot be sent. Return a "
            "flatter structure from collate_fn."
        )
    leaf = encode_leaf(value, buffers, share)
    if leaf is not None:
        return leaf
    if isinstance(value, list | tuple) and kind in _TAGS:
        if _PLAIN.issuperset(map(type, value)):
            return [_TAGS[kind], *value]
        return [
            _TAGS[kind],
            *[_encode(item, buffers, share, depth + 1, pickles) for item in value],
        ]
    if isinstance(value, dict) and kind in _TAGS:
        pairs = [part for pair in value.items() for part in pair]
        return [
            _TAGS[kind],
            *[_encode(part, buffers, share, depth + 1, pickles) for part in pairs],
        ]
    fields = getattr(kind, "_fields", None)
    if isinstance(value, tuple) and isinstance(fields, tuple) and len(fields) == len(value):
        items = [_encode(item, buffers, share, depth + 1, pickles) for item in value]
        return ["n", kind.__module__, kind.__qualname__, list(fields), *items]
    known = taken_apart(value, pickles=pickles)
    if known is not None:
        type_name, (head, parts) = known
        described = [_encode(part, buffers, share, depth + 1, pickles) for part in parts]
        return ["x", type_name, head, *described]
    if pickles:
        return encode_pickle(value, buffers)
    raise cannot_be_sent(value)


def _parse(description: object, leaves: list[Leaf], depth: int) -> None:
    if type(description) in _PLAIN:
        return
    if not isinstance(description, list) or depth >= MAX_DEPTH:
        raise _unknown(description)
    tag = description[0] if description else None
    if not isinstance(tag, str):
        raise _unknown(description)
    if tag in {"l", "t"} or (tag in {"d", "o"} and len(description) % 2 == 1):
        parts = description[1:]
    elif tag == "n":
        _namedtuple_type(description)
        parts = description[4:]
    elif tag == "x" and len(description) >= 3 and isinstance(description[2], list):
        if not is_known(description[1]):
            raise _unknown(description)
        parts = description[3:]
    else:
        leaves.append(parse_leaf(description))
        return
    for part in parts:
        _parse(part, leaves, depth + 1)


def _build(description: object, leaves: Iterator[object]) -> object:  # noqa: PLR0911  a table of what can come
    if not isinstance(description, list):
        return description
    tag = description[0]
    if tag == "l":
        return [_build(part, leaves) for part in description[1:]]
    if tag == "t":
        return tuple([_build(part, leaves) for part in description[1:]])
    if tag in {"d", "o"}:
        parts = [_build(part, leaves) for part in description[1:]]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return dict(pairs) if tag == "d" else OrderedDict(pairs)
    if tag == "n":
        kind = _namedtuple_type(description)
        # Not kind(...): a class with that name may do anything in its own __new__.
        return tuple.__new__(kind, [_build(part, leaves) for part in description[4:]])
    if tag == "x":
        parts = [_build(part, leaves) for part in description[3:]]
        return _made(description[1], description[2], parts)
    return next(leaves)


def _made(name: str, head: list[object], parts: list[object]) -> object:
    try:
        return made_again(name, head, parts)
    except Exception as error:
        raise ProtocolError(
            f"A message describes a {name[:80]} that cannot be made "
            f"({type(error).__name__}: {str(error)[:200]}). {SAME_VERSION}"
        ) from error


def _namedtuple_type(description: list[object]) -> type[tuple[object, ...]]:
    head, values = description[1:4], description[4:]
    if len(head) == 3:
        module, name, fields = head
        if (
            isinstance(module, str)
            and isinstance(name, str)
            and isinstance(fields, list)
            and all(isinstance(field, str) for field in fields)
            and len(fields) == len(values) <= _MAX_FIELDS
        ):
            return _known_namedtuple(module, name, tuple(fields)) or _new_namedtuple(
                name, tuple(fields)
            )
    raise _unknown(description)


def _known_namedtuple(
    module: str, name: str, fields: tuple[str, ...]
) -> type[tuple[object, ...]] | None:
    """Return the script's own class, if this process has imported it; nothing is imported."""
    found = known_class(module, name)
    if found is not None and issubclass(found, tuple):
        return found if getattr(found, "_fields", None) == fields else None
    return None


@lru_cache(maxsize=64)
def _new_namedtuple(name: str, fields: tuple[str, ...]) -> type[tuple[object, ...]]:
    try:
        return namedtuple(name.rpartition(".")[2], fields)  # noqa: PYI024  made at run time from names
    except (ValueError, SyntaxError) as error:
        raise ProtocolError(
            f"A message describes a named tuple {name[:80]!r} with fields "
            f"{reprlib.repr(fields)}, which cannot be made ({error}). Use plain identifiers "
            "in the dataset."
        ) from error


def _unknown(description: object) -> ProtocolError:
    return ProtocolError(
        f"A message describes a part as {reprlib.repr(description)}, which is not known. "
        f"{SAME_VERSION}"
    )
