"""Makes a loader that a trainer has told of, on a data instance."""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any

from torch.utils.data import Dataset, default_collate, default_convert

from smtc_lab.dataservice.batch_types.known import (
    is_its_attributes,
    is_of_script,
    known_class,
)
from smtc_lab.dataservice.source import LoaderSource, StreamSource
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from smtc_lab.dataservice.late_loaders.landmarks import Landmarks

TORCH_FUNCTIONS = {"default_collate": default_collate, "default_convert": default_convert}
"""Functions that are told by their names."""

CONTAINERS: dict[str, type[Any]] = {"list": list, "tuple": tuple, "set": set}
"""Containers of parts, by what they are told as; dicts are told apart."""

MAX_DEPTH = 24
"""How deep the parts of a loader may lie in each other."""


def built(told: object, landmarks: Landmarks) -> LoaderSource:
    """Return the source of a loader that a trainer has told of.

    Raises:
        DataServiceError: Something of it is not here.
    """
    if not isinstance(told, dict):
        raise _not_here(told)
    parts = {name: told.get(name) for name in ("dataset", "collate_fn", "worker_init_fn")}
    dataset, collate_fn, worker_init_fn = (_built(it, landmarks, 0) for it in parts.values())
    if not callable(collate_fn) or not (worker_init_fn is None or callable(worker_init_fn)):
        raise _not_here(parts)
    common: dict[str, Any] = {
        "dataset": dataset,
        "collate_fn": collate_fn,
        "worker_init_fn": worker_init_fn,
        "auto_collation": told.get("auto_collation") is True,
    }
    source = (
        StreamSource(
            **common, batch_size=told["batch_size"], drop_last=told.get("drop_last") is True
        )
        if "batch_size" in told
        else LoaderSource(**common)
    )
    if source.num_samples != told.get("length"):
        raise DataServiceError(
            f"the dataset has {told.get('length')} samples there, but {source.num_samples} here"
        )
    return source


def _built_function(told: list[Any], landmarks: Landmarks, depth: int) -> types.FunctionType:
    """Return a function that the script defines only later; its code is there already."""
    module, place, *parts = told
    defaults, by_name, cells = (_built(part, landmarks, depth + 1) for part in parts)
    try:
        code = landmarks.code(place)
    except LookupError:
        raise DataServiceError(f"there is no function {place[:3]} here") from None
    found = sys.modules.get(module)
    has_cells = isinstance(cells, list) and len(cells) == len(code.co_freevars)
    if found is None or not is_of_script(code.co_filename) or not has_cells:
        raise _not_here(told)
    closure = tuple(types.CellType(cell) for cell in cells)
    made = types.FunctionType(code, found.__dict__, code.co_name, defaults, closure)
    made.__kwdefaults__ = by_name
    return made


def can_be_made(kind: type) -> bool:
    """Return whether an object of a class is its attributes: a dataset, or what is called.

    Only such classes are made from what comes over the network.
    """
    return (
        (issubclass(kind, Dataset) or callable(getattr(kind, "__call__", None)))  # noqa: B004  of the class
        and is_its_attributes(kind)
    )


def _built(told: object, landmarks: Landmarks, depth: int) -> Any:  # noqa: ANN401, C901, PLR0911, PLR0912  a table of what can be told
    if depth > 2 * MAX_DEPTH:
        raise _not_here(told)
    match told:
        case ["value", value]:
            return value
        case ["at", list(path)]:
            try:
                return landmarks.at(path)
            except LookupError:
                shown = ".".join(map(str, path))[:200]
                raise DataServiceError(f"there is no {shown} here") from None
        case ["torch", str(name)] if name in TORCH_FUNCTIONS:
            return TORCH_FUNCTIONS[name]
        case [str(kind), list(items)] if kind in CONTAINERS:
            return CONTAINERS[kind](_built(item, landmarks, depth + 1) for item in items)
        case ["dict", list(items)] if len(items) % 2 == 0:
            parts = [_built(item, landmarks, depth + 1) for item in items]
            return dict(zip(parts[::2], parts[1::2], strict=True))
        case ["method", owner, str(name)]:
            whose = _built(owner, landmarks, depth + 1)
            function = getattr(type(whose), name, None)
            if isinstance(function, types.FunctionType):
                return types.MethodType(function, whose)
        case ["function", str(), list(), _, _, _]:
            return _built_function(list(told[1:]), landmarks, depth)
        case ["partial", *parts]:
            match [_built(part, landmarks, depth + 1) for part in parts]:
                case [function, list(args), dict(keywords)] if callable(function):
                    return functools.partial(function, *args, **keywords)
        case ["made", module, name, content]:
            found = known_class(module, name)
            attributes = _built(content, landmarks, depth + 1)
            if found is not None and can_be_made(found) and isinstance(attributes, dict):
                made: object = object.__new__(found)
                object.__getattribute__(made, "__dict__").update(attributes)
                return made
    raise _not_here(told)


def _not_here(told: object) -> DataServiceError:
    what = [str(part)[:80] for part in told[:3]] if isinstance(told, list) else type(told)
    return DataServiceError(f"what was told as {what} cannot be made here")
