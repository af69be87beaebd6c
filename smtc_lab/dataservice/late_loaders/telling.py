"""What a trainer tells of a loader that its script made after the first iteration."""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from typing import Any

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.batch_types.known import is_of_script
from smtc_lab.dataservice.late_loaders.building import (
    CONTAINERS,
    MAX_DEPTH,
    TORCH_FUNCTIONS,
    can_be_made,
)
from smtc_lab.dataservice.late_loaders.landmarks import (
    Charted,
    code_place,
    forget_old_variables,
)
from smtc_lab.dataservice.protocol import structure
from smtc_lab.dataservice.protocol.messages import ToldLoader
from smtc_lab.dataservice.source import LoaderSource, StreamSource
from smtc_lab.errors import DataServiceError

_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
_MOST_PARTS = 10_000
MAX_TOLD_BYTES = 2**26
"""The most bytes of tensors and arrays that a construction holds."""


def note_iteration(*, has_servers: bool) -> None:
    """Take note that the script iterates over a loader.

    Args:
        has_servers: Whether data servers may have to be told of loaders that come later.
    """
    known = placement.first_iteration()
    if known is None:
        placement.note_first_iteration(Charted.here() if has_servers else "not charted")
    elif isinstance(known, Charted):
        forget_old_variables()


class Telling:
    """What data servers are told of a loader that they do not know."""

    def __init__(self, source: LoaderSource, name: str | None) -> None:
        """Describe a loader that has no name yet; any other one only when it is told.

        Args:
            source: The loader's.
            name: What requests call it; None: the same for every loader that is made so.
        """
        self._source = source
        self._problem: DataServiceError | None = None
        self._construction: object = None
        self.name = name or "told"
        """What requests call it."""
        if name is None:
            self._describe()

    def told(self) -> ToldLoader:
        """Return what a data server is told.

        Raises:
            DataServiceError: It cannot be told; says why.
        """
        if self._construction is None and self._problem is None:
            self._describe()
        if self._problem is not None:
            raise self._problem
        return ToldLoader(name=self.name, construction=self._construction)

    def _describe(self) -> None:
        try:
            self._construction = described(self._source)
            parts = ToldLoader(name=self.name, construction=self._construction).pack()
        except DataServiceError as error:
            self._problem = error
            return
        if self.name == "told":
            digest = hashlib.blake2b(digest_size=16)
            for part in parts:
                digest.update(part)
            self.name = f"told-{digest.hexdigest()}"


def described(source: LoaderSource) -> dict[str, object]:
    """Return the construction of a loader, as a value that can be sent.

    Raises:
        DataServiceError: Something of it cannot be told; says what.
    """
    charted = placement.first_iteration()
    if not isinstance(charted, Charted):
        raise DataServiceError("there were no data servers at the first iteration")
    description = _Description(charted)
    told: dict[str, object] = {
        "dataset": description.of(source.dataset, "the dataset"),
        "collate_fn": description.of(source.collate_fn, "collate_fn"),
        "worker_init_fn": description.of(source.worker_init_fn, "worker_init_fn"),
        "auto_collation": source.auto_collation,
        "length": source.num_samples,
    }
    if isinstance(source, StreamSource):
        told |= {"batch_size": source.batch_size, "drop_last": source.drop_last}
    return told


class _Description:
    """Describes the parts of one loader."""

    def __init__(self, charted: Charted) -> None:
        self._charted = charted
        self._num_parts = 0
        self._bytes = 0

    def of(self, thing: object, what: str, depth: int = 0) -> list[object]:  # noqa: C901, PLR0911  a table of what can be told
        """Return the description of one part.

        Args:
            thing: The part.
            what: What messages call it.
            depth: How deep it lies.

        Raises:
            DataServiceError: It cannot be told.
        """
        self._num_parts += 1
        if depth > MAX_DEPTH or self._num_parts > _MOST_PARTS:
            raise DataServiceError(f"{what} has too many parts to be told")
        if type(thing) in _PLAIN:
            return ["value", thing]
        path = self._charted.path_to(thing)
        if path is not None and not self._charted.has_changed(thing):
            return ["at", path]
        for name, function in TORCH_FUNCTIONS.items():
            if thing is function:
                return ["torch", name]
        if type(thing) in CONTAINERS.values() or type(thing) is dict:
            return self._container(thing, what, depth)
        if isinstance(thing, types.MethodType):
            name = thing.__func__.__name__
            if getattr(type(thing.__self__), name, None) is thing.__func__:
                return ["method", self.of(thing.__self__, what, depth + 1), name]
        if isinstance(thing, types.FunctionType) and _is_the_scripts(thing):
            try:
                cells = [cell.cell_contents for cell in thing.__closure__ or ()]
            except ValueError as error:
                raise DataServiceError(f"{what} uses a variable that has no value") from error
            inner = f"{what} ({thing.__name__})"
            parts = (thing.__defaults__, thing.__kwdefaults__, cells)
            told = [self.of(part, inner, depth + 1) for part in parts]
            return ["function", thing.__module__, code_place(thing.__code__), *told]
        if type(thing) is functools.partial:
            given = (thing.func, list(thing.args), thing.keywords)
            return ["partial", *[self.of(part, what, depth + 1) for part in given]]
        if can_be_made(type(thing)):
            kind = type(thing)
            content = self.of(dict(vars(thing)), f"{what} ({kind.__qualname__})", depth + 1)
            return ["made", kind.__module__, kind.__qualname__, content]
        return self._value(thing, what)

    def _container(self, thing: Any, what: str, depth: int) -> list[object]:  # noqa: ANN401  any container
        items = [*thing, *thing.values()] if type(thing) is dict else thing
        if _PLAIN.issuperset(map(type, items)) and type(thing) is not set:
            return ["value", thing]
        if type(thing) is dict:
            pairs: list[object] = []
            for name, value in thing.items():
                inner = f"{what}'s {name}" if isinstance(name, str) else what
                pairs += [self.of(name, what, depth + 1), self.of(value, inner, depth + 1)]
            return ["dict", pairs]
        kind = type(thing).__name__
        return [kind, [self.of(item, what, depth + 1) for item in thing]]

    def _value(self, thing: object, what: str) -> list[object]:
        kind = type(thing)
        try:
            _, buffers = structure.encode(thing)
        except DataServiceError as error:
            raise DataServiceError(
                f"{what} holds a {kind.__module__}.{kind.__qualname__} that is new"
            ) from error
        self._bytes += sum(view.nbytes for view in buffers)
        if self._bytes > MAX_TOLD_BYTES:
            raise DataServiceError(f"{what} is new, and has more than {MAX_TOLD_BYTES} bytes")
        return ["value", thing]


def _is_the_scripts(function: types.FunctionType) -> bool:
    """Return whether a data instance has the code of a function: the script's own."""
    module = sys.modules.get(function.__module__)
    return (
        is_of_script(function.__code__.co_filename)
        and module is not None
        and function.__globals__ is module.__dict__
    )
