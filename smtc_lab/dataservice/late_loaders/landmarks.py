"""Objects that two processes have in common, because both ran the same script to one place.

That place is the script's first iteration over a dataloader: there a data instance stays, and a
trainer goes on. What either can reach there from the script's variables has the same path in
both, so a trainer can name a dataset or a function to a data instance without sending it.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import threading
import types
import weakref
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import Dataset

from smtc_lab.dataservice.batch_types.known import is_of_script
from smtc_lab.dataservice.late_loaders.content import content, content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Step = str | int

_MOST_OBJECTS = 20_000
_MOST_ITEMS = 1000
_MOST_NESTED = 8
_WRITTEN_TO = (torch.Tensor, np.ndarray)
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_CLOSED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


class Landmarks:
    """What the variables of a script referred to at its first iteration over a dataloader."""

    def __init__(
        self,
        roots: Mapping[str, Mapping[str, object]],
        codes: Iterable[types.CodeType] = (),
    ) -> None:
        """Keep what the script has.

        Args:
            roots: Its variables.
            codes: What of it runs now.
        """
        self._roots = roots
        self._running = tuple(codes)

    @classmethod
    def here(cls) -> Landmarks:
        """Return those of this process, now; they keep what they refer to."""
        return cls(_roots(), [frame.f_code for frame in _script_frames()])

    def code(self, place: list[object]) -> types.CodeType:
        """Return the code of a function of the script; see ``code_place``.

        Raises:
            LookupError: The script has no such function.
        """
        pending = deque(self._running)
        for variables in self._roots.values():
            for value in variables.values():
                members = vars(value).values() if isinstance(value, type) else (value,)
                for one in members:
                    function = getattr(one, "__func__", one)
                    if isinstance(function, types.FunctionType):
                        pending.append(function.__code__)
        seen = set()
        while pending:
            code = pending.popleft()
            if id(code) in seen:
                continue
            seen.add(id(code))
            if code_place(code) == place:
                return code
            pending.extend(it for it in code.co_consts if isinstance(it, types.CodeType))
        raise LookupError(place)

    def at(self, path: list[object]) -> object:
        """Return the object that a path of ``Charted`` leads to. No code of the script runs.

        Raises:
            LookupError: There is none.
        """
        found: object = self._roots
        for step in path:
            found = _child(found, step)
        return found


class Charted:
    """The paths of a process's objects, as they were at its first iteration.

    It keeps none of them alive, and knows those only that can be referred to weakly.
    """

    def __init__(self, roots: Mapping[str, Mapping[str, object]]) -> None:
        self._paths: dict[int, tuple[weakref.ref[object], int | None, Step]] = {}
        self._containers: dict[int, tuple[int | None, Step]] = {}
        self._content: dict[int, object] = {}
        self._chart(roots)

    @classmethod
    def here(cls) -> Charted:
        """Return those of this process, now."""
        return cls(_roots())

    def path_to(self, thing: object) -> list[Step] | None:
        """Return the path to an object; None: it was not there, or another one was."""
        known = self._paths.get(id(thing))
        if known is None or known[0]() is not thing:
            return None
        steps: list[Step] = [known[2]]
        parent = known[1]
        while parent is not None:
            parent, step = self._containers[parent]
            steps.append(step)
        return steps[::-1]

    def has_changed(self, thing: object, depth: int = 0) -> bool:
        """Return whether a dataset, tensor or array may hold something else by now.

        Of other objects it is not known, and taken that they do not.
        """
        if isinstance(thing, _WRITTEN_TO):
            return self._content.get(id(thing)) != content(thing)
        if not isinstance(thing, Dataset) or depth > _MOST_NESTED:
            return False
        return self._content.get(id(thing)) != content_of(thing) or any(
            self.has_changed(part, depth + 1) for part in vars(thing).values()
        )

    def _chart(self, roots: Mapping[str, Mapping[str, object]]) -> None:
        seen: set[int] = set()
        pending: deque[tuple[object, int | None, Step]] = deque(
            (mapping, None, name) for name, mapping in roots.items()
        )
        alive = []  # else an id might be given twice
        while pending and len(seen) < _MOST_OBJECTS:
            thing, parent, step = pending.popleft()
            if type(thing) in _PLAIN or id(thing) in seen:
                continue
            seen.add(id(thing))
            alive.append(thing)
            with suppress(TypeError):  # a list, a dict, a tuple
                self._paths[id(thing)] = (weakref.ref(thing), parent, step)
            if isinstance(thing, Dataset):
                self._content[id(thing)] = content_of(thing)
            elif isinstance(thing, _WRITTEN_TO):
                self._content[id(thing)] = content(thing)
            children = list(_children(thing))
            if children:
                self._containers[id(thing)] = (parent, step)
                pending.extend((child, id(thing), name) for name, child in children)


def _children(thing: object) -> Iterator[tuple[Step, object]]:
    if isinstance(thing, _CLOSED):
        return
    if type(thing) in {list, tuple}:
        items: Any = thing
        if len(items) <= _MOST_ITEMS:
            yield from enumerate(items)
        return
    content = thing if isinstance(thing, dict) else _attributes(thing)
    if content is not None and len(content) <= _MOST_ITEMS:
        for name, child in content.items():
            if type(name) in {str, int}:
                yield name, child


def _child(thing: object, step: object) -> object:
    if isinstance(thing, _CLOSED) or type(step) not in {str, int}:
        raise LookupError(step)
    if type(thing) in {list, tuple}:
        items: Any = thing
        if type(step) is int and 0 <= step < len(items):
            return items[step]
        raise LookupError(step)
    content = thing if isinstance(thing, dict) else _attributes(thing)
    if content is None or step not in content:
        raise LookupError(step)
    return content[step]


def _attributes(thing: object) -> dict[Any, object] | None:
    """Return what an object holds itself; nothing of its class is asked."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except Exception:  # noqa: BLE001  it may be anything
        return None
    return found if type(found) is dict else None


def code_place(code: types.CodeType) -> list[object]:
    """Return what tells the code of one function of a script from that of others."""
    file = os.path.basename(code.co_filename)  # noqa: PTH119  no links are followed
    said = repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
    digest = hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
    return [file, code.co_qualname, code.co_firstlineno, digest]


def _roots() -> dict[str, Mapping[str, object]]:
    """Return the variables of the script: of its modules, and of its functions that run."""
    roots: dict[str, Mapping[str, object]] = {
        "__main__": dict(sys.modules["__main__"].__dict__)
    }
    for name, module in list(sys.modules.items()):
        if name != "__main__" and is_of_script(getattr(module, "__file__", None)):
            roots[name] = dict(module.__dict__)
    for frame in _script_frames():
        code = frame.f_code
        if code.co_flags & inspect.CO_OPTIMIZED:
            label = f"{os.path.basename(code.co_filename)}:{code.co_qualname}"  # noqa: PTH119  as above
            number = sum(one.startswith(f"{label}:") for one in roots)
            roots[f"{label}:{number}"] = dict(frame.f_locals)
    return roots


def _script_frames() -> Iterator[types.FrameType]:
    """Yield what of the script runs: in this thread, and in the main one."""
    frame: types.FrameType | None = sys._getframe()  # noqa: SLF001  there is no other way to see it
    main = threading.main_thread()
    first = sys._current_frames().get(main.ident or 0)  # noqa: SLF001  as above
    for start in (frame, first if threading.current_thread() is not main else None):
        frame = start
        while frame is not None:
            if is_of_script(frame.f_code.co_filename):
                yield frame
            frame = frame.f_back


def forget_old_variables() -> None:
    """Let the functions that run here keep nothing but what their variables refer to now.

    Before Python 3.13, to look at a function's variables keeps what they referred to then.
    """
    frame: types.FrameType | None = sys._getframe()  # noqa: SLF001  as above
    while frame is not None:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            _ = frame.f_locals
        frame = frame.f_back
