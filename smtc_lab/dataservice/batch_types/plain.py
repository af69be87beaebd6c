"""Types of Python's own library, and classes that are nothing but what they hold."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import pathlib
import types as python_types
import uuid
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from smtc_lab.dataservice.batch_types.batch_type import (
    BatchType,
    Taken,
    exactly,
    of_text,
    plain_text,
)
from smtc_lab.dataservice.batch_types.known import (
    is_found_by_name,
    is_its_attributes,
    is_of_script,
    known_class,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_FACTORIES: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (list, dict, set, tuple, int, float, str, bool)
}
_PATHS = {
    kind.__name__: kind
    for kind in (
        pathlib.PosixPath,
        pathlib.PurePosixPath,
        pathlib.PureWindowsPath,
    )
}
_ENCODINGS = "_encodings"


OF_SCRIPT = "object"
"""Name of the type of objects of the script's own classes; a pickle says more of them."""

PLAIN_TYPES: list[BatchType] = []
"""Those of this module, in the order in which they are asked."""


def _add(
    name: str,
    matches: Callable[[type], bool],
    take: Callable[[Any], Taken | None],
    make: Callable[[list[Any], list[Any]], object],
) -> None:
    PLAIN_TYPES.append(BatchType(name, matches, take, make))


def _add_containers() -> None:
    for kind in (set, frozenset):
        _add(
            kind.__name__,
            exactly(kind),
            lambda value: Taken([], list(value)),
            _maker(kind),
        )
    _add(
        "deque",
        exactly(deque),
        lambda value: Taken([value.maxlen], list(value)),
        lambda head, parts: deque(parts, head[0]),
    )
    _add(
        "counter",
        exactly(Counter),
        lambda value: Taken([], [dict(value)]),
        lambda _, parts: _filled(Counter, parts[0]),
    )
    _add("defaultdict", exactly(defaultdict), _take_defaultdict, _make_defaultdict)
    _add(
        "namespace",
        exactly(python_types.SimpleNamespace),
        lambda value: Taken([], [dict(vars(value))]),
        lambda _, parts: python_types.SimpleNamespace(**parts[0]),
    )


def _maker(kind: Callable[[Any], object]) -> Callable[[list[Any], list[Any]], object]:
    return lambda _, parts: kind(parts)


def _moment_maker(kind: Any) -> Callable[[list[Any], list[Any]], object]:  # noqa: ANN401  a class
    return lambda head, _: kind.fromisoformat(plain_text(head[0])).replace(fold=head[1])


def _filled(kind: type[dict[Any, Any]], items: Any) -> dict[Any, Any]:  # noqa: ANN401  what a message says
    made = dict.__new__(kind)
    dict.update(made, items)
    return made


def _take_defaultdict(value: Any) -> Taken | None:  # noqa: ANN401  a defaultdict
    factory = value.default_factory
    name = getattr(factory, "__name__", None)
    if factory is not None and _FACTORIES.get(str(name)) is not factory:
        return None
    return Taken([name], [dict(value)])


def _make_defaultdict(head: list[Any], parts: list[Any]) -> object:
    factory = None if head[0] is None else _FACTORIES[plain_text(head[0])]
    return defaultdict(factory, parts[0])


def _add_numbers() -> None:
    _add(
        "range",
        exactly(range),
        lambda it: Taken([it.start, it.stop, it.step], []),
        lambda head, _: range(*head),
    )
    _add(
        "slice",
        exactly(slice),
        lambda it: Taken([], [it.start, it.stop, it.step]),
        lambda _, parts: slice(*parts),
    )
    _add(
        "complex",
        exactly(complex),
        lambda it: Taken([it.real, it.imag], []),
        lambda head, _: complex(*head),
    )
    _add(
        "bytearray",
        exactly(bytearray),
        lambda it: Taken([], [bytes(it)]),
        lambda _, parts: bytearray(parts[0]),
    )
    _add(
        "timedelta",
        exactly(dt.timedelta),
        lambda it: Taken([it.days, it.seconds, it.microseconds], []),
        lambda head, _: dt.timedelta(*head),
    )
    PLAIN_TYPES.extend(
        [
            of_text(Decimal, "decimal", Decimal),
            of_text(Fraction, "fraction", Fraction),
            of_text(uuid.UUID, "uuid", uuid.UUID),
            of_text(dt.date, "date", dt.date.fromisoformat),
        ]
    )
    for kind in (dt.datetime, dt.time):
        _add(
            kind.__name__,
            exactly(kind),
            lambda it: Taken([it.isoformat(), it.fold], []),
            _moment_maker(kind),
        )


def _add_classes() -> None:
    _add(
        "path",
        exactly(*_PATHS.values()),
        lambda it: Taken([type(it).__name__, str(it)], []),
        lambda head, _: _PATHS[plain_text(head[0])](plain_text(head[1])),
    )
    _add("mapping", _is_mapping, _take_mapping, _make_mapping)
    _add("userdict", lambda it: issubclass(it, UserDict), _take_userdict, _make_userdict)
    _add(
        "enum",
        lambda it: issubclass(it, enum.Enum),
        lambda it: Taken([*_names(it), it.name], []) if it.name else None,
        lambda head, _: _class(head, enum.Enum).__members__[plain_text(head[2])],
    )
    _add("dataclass", dataclasses.is_dataclass, _take_dataclass, _make_dataclass)
    _add(OF_SCRIPT, _is_of_script, _take_object, _make_object)


def _attributes(value: object) -> dict[str, Any]:
    """Return an object's attributes, without asking its class what it makes of names."""
    if not type(value).__dictoffset__:
        return {}
    found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    return found


def _names(value: object) -> list[object]:
    kind = type(value)
    return [kind.__module__, kind.__qualname__]


def _class(head: list[Any], base: type) -> Any:  # noqa: ANN401  a class
    found = known_class(head[0], head[1])
    if found is None or not issubclass(found, base):
        raise LookupError(f"there is no {base.__name__} {head[0]}.{head[1]} here")
    return found


def _take_dataclass(value: Any) -> Taken:  # noqa: ANN401  a dataclass
    names = [field.name for field in dataclasses.fields(value)]
    others = {it: one for it, one in _attributes(value).items() if it not in names}
    return Taken([*_names(value), names], [*[getattr(value, it) for it in names], others])


def _make_dataclass(head: list[Any], parts: list[Any]) -> object:
    module, name, fields = head
    if not isinstance(fields, list) or len(fields) != len(parts) - 1:
        raise ValueError("it has other fields")
    kind = known_class(module, name)
    known = kind is not None and dataclasses.is_dataclass(kind)
    if kind is None or not known or [it.name for it in dataclasses.fields(kind)] != fields:
        kind = dataclasses.make_dataclass(
            plain_text(name).rpartition(".")[2], map(plain_text, fields)
        )
    made: object = object.__new__(kind)
    for field, part in zip(fields, parts[:-1], strict=True):
        object.__setattr__(made, field, part)
    _attributes(made).update(parts[-1])
    return made


def _is_of_script(kind: type) -> bool:
    """Return whether a class is the script's own, and says nothing of how it is pickled."""
    return (
        is_of_script(kind.__module__)
        and is_its_attributes(kind)
        and all(
            getattr(kind, name, None) is getattr(object, name, None)
            for name in ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
        )
        and not dataclasses.is_dataclass(kind)
    )


def _take_object(value: Any) -> Taken | None:  # noqa: ANN401  an object of the script's class
    kind = type(value)
    if not is_found_by_name(kind):
        return None
    return Taken(_names(value), [dict(vars(value))])


def _make_object(head: list[Any], parts: list[Any]) -> object:
    kind = _class(head, object)
    if not _is_of_script(kind):
        raise LookupError(f"{head[0]}.{head[1]} is no class of the script")
    made: object = object.__new__(kind)
    object.__getattribute__(made, "__dict__").update(parts[0])
    return made


def _is_mapping(kind: type) -> bool:
    return issubclass(kind, dict) and kind.__new__ in {dict.__new__, OrderedDict.__new__}


def _take_mapping(value: Any) -> Taken:  # noqa: ANN401  a kind of dict
    return Taken(_names(value), [dict(value), dict(_attributes(value))])


def _make_mapping(head: list[Any], parts: list[Any]) -> object:
    kind = known_class(head[0], head[1])
    items: Any = parts[0]
    if kind is None or not _is_mapping(kind):  # one that this process does not know
        return dict(items)
    base: Any = OrderedDict if issubclass(kind, OrderedDict) else dict
    made = base.__new__(kind)
    for name, value in items.items():
        base.__setitem__(made, name, value)
    _attributes(made).update(parts[1])
    return made


def _take_userdict(value: Any) -> Taken:  # noqa: ANN401  a UserDict
    others = {name: it for name, it in vars(value).items() if name != "data"}
    if _ENCODINGS in others:  # of a BatchEncoding: what the tokenizer knows beside the tensors
        others[_ENCODINGS] = None
    return Taken(_names(value), [value.data, others])


def _make_userdict(head: list[Any], parts: list[Any]) -> object:
    made = object.__new__(_class(head, UserDict))
    vars(made).update({**dict(parts[1]), "data": parts[0]})
    return made


_add_containers()
_add_numbers()
_add_classes()
