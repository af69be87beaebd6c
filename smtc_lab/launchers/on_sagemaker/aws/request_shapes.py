"""A request to SageMaker against botocore's own description of it, walked strictly.

botocore itself checks unknown fields, types, required fields and minimums before it sends a
request; lengths, patterns, maxima and allowed values are checked by the service, minutes later.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.launchers.on_sagemaker.aws.clients import service_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSTANCE_TYPES = ("TrainingInstanceType", "ProcessingInstanceType")
"""Shapes whose values grow from one month to the next: 145 became 225 within a year."""

_JAVA_CLASSES = (
    (r"\p{L}", r"\w"),
    (r"\p{N}", r"\d"),
    (r"\p{Z}", r"\s"),
    (r"\p{Alnum}", "a-zA-Z0-9"),
)


def shape_problems(request: object, operation: str = "CreateTrainingJob") -> list[str]:
    """Return what botocore's model of a request does not allow."""
    return list(_walk(_input_shape(operation), request, ""))


def known_instance_types() -> frozenset[str]:
    """Return the instance types that botocore knows."""
    groups = (
        _input_shape("CreateTrainingJob").members["ResourceConfig"].members["InstanceGroups"]
    )
    return frozenset(groups.member.members["InstanceType"].enum)


class _Shape(Protocol):
    """What botocore says of one value of a request; each kind has some of these."""

    name: str
    type_name: str
    metadata: dict[str, Any]
    members: dict[str, _Shape]
    required_members: list[str]
    member: _Shape
    key: _Shape
    value: _Shape
    enum: list[str]


@cache
def _input_shape(operation: str) -> _Shape:
    shape: _Shape = service_model().operation_model(operation).input_shape
    return shape


def _walk(shape: _Shape, value: object, path: str) -> Iterator[str]:
    walk = _WALKS.get(shape.type_name, _number)
    return walk(shape, value, path)


def _structure(shape: _Shape, value: object, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _wrong(path or "The request", value, "is not a set of fields", "Change it.")
        return
    prefix = f"{path}." if path else ""
    for name in shape.required_members:
        if name not in value:
            yield f"{prefix}{name} is missing. Give it a value."
    for name, item in value.items():
        if name in shape.members:
            yield from _walk(shape.members[name], item, f"{prefix}{name}")
        else:
            yield f"{prefix}{name!s:.80} is not a field that SageMaker knows. Drop it."


def _list(shape: _Shape, value: object, path: str) -> Iterator[str]:
    if not isinstance(value, list | tuple):
        yield _wrong(path, value, "is not a list", "Put it in brackets.")
        return
    yield from _size(shape, len(value), path, "items")
    for number, item in enumerate(value):
        yield from _walk(shape.member, item, f"{path}[{number}]")


def _map(shape: _Shape, value: object, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _wrong(path, value, "is not a set of names with values", "Change it.")
        return
    yield from _size(shape, len(value), path, "entries")
    for key, item in value.items():
        yield from _walk(shape.key, key, f"The name of an entry of {path}")
        yield from _walk(shape.value, item, f"{path}.{key!s:.80}")


def _text(shape: _Shape, value: object, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield _wrong(path, value, "is not text", "Put it in quotes.")
        return
    is_private = path.startswith("Environment.")  # tokens are put there, whatever one says
    subject = path if is_private else f"{path}={value!r:.80}"
    yield from _size(shape, len(value), subject, "characters")
    if shape.enum and value not in shape.enum and shape.name not in INSTANCE_TYPES:
        yield _wrong(path, value, "is not allowed", f"Choose among {', '.join(shape.enum)}.")
    pattern = _pattern(shape.metadata.get("pattern"))
    if pattern is not None and not pattern.fullmatch(value):
        form = f"is not of the form {shape.metadata['pattern']}"
        yield _wrong(path, value, form, "Change it.")


def _boolean(shape: _Shape, value: object, path: str) -> Iterator[str]:
    del shape
    if not isinstance(value, bool):
        yield _wrong(path, value, "is neither true nor false", "Change it.")


def _real_number(shape: _Shape, value: object, path: str) -> Iterator[str]:
    del shape
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield _wrong(path, value, "is not a number", "Change it.")


def _number(shape: _Shape, value: object, path: str) -> Iterator[str]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield _wrong(path, value, "is not a whole number", "Change it.")
        return
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and value < least:
        yield _wrong(path, value, f"is below {least}", "Raise it.")
    if most is not None and value > most:
        yield _wrong(path, value, f"is above {most}", "Lower it.")


_WALKS: dict[str, Callable[[_Shape, object, str], Iterator[str]]] = {
    "structure": _structure,
    "list": _list,
    "map": _map,
    "string": _text,
    "boolean": _boolean,
    "float": _real_number,
}


def _size(shape: _Shape, size: int, subject: str, unit: str) -> Iterator[str]:
    least, most = shape.metadata.get("min", 0), shape.metadata.get("max")
    if size < least:
        yield f"{subject} has {size} {unit}, but needs at least {least}. Add some."
    if most is not None and size > most:
        yield f"{subject} has {size} {unit}, but may have {most}. Shorten it."


@cache
def _pattern(text: str | None) -> re.Pattern[str] | None:
    """Return the expression of a pattern that was written for Java; None: any text will do."""
    if text is None:
        return None
    for theirs, ours in _JAVA_CLASSES:
        text = text.replace(theirs, ours)
    try:
        return re.compile(text)
    except re.error:
        return None


def _wrong(path: str, value: object, what: str, remedy: str) -> str:
    return f"{path}={value!r:.120} {what}. {remedy}"
