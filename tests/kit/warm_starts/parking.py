"""Modules that were imported ahead and set aside, and come back when they are imported.

Until then ``sys.modules`` is that of an interpreter that has just started, so whoever asks
whether a module was imported is told the truth.
"""

from __future__ import annotations

import builtins
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import ModuleType

_OURS = {"smtc_lab", "tests"}
"""Packages whose modules are executed anew in each process."""


class Parking:
    """Finds modules that were imported before this process became what it is."""

    def __init__(self, plain: Iterable[str], on_return: Callable[[set[str]], None]) -> None:
        """Begin to note who needs whom.

        Args:
            plain: Names of the modules that every interpreter has from its start.
            on_return: Called with the names of modules that have come back.
        """
        self._plain = {*plain, "__main__"}
        self._on_return = on_return
        self._parked: dict[str, ModuleType] = {}
        self._known: dict[str, ModuleType] = {}
        self._gone: list[ModuleType] = []
        self._finders: list[Any] = []
        self._needs: dict[str, set[str]] = {}
        self._library = [os.path.realpath(each) for each in (sys.prefix, sys.base_prefix)]
        self._searched = set(sys.path)

    def import_ahead(self, names: Sequence[str]) -> None:
        """Import modules, and note which other ones each module needs.

        Raises:
            ImportError: One of them cannot be imported.
        """
        plain = builtins.__import__

        def noting(
            name: str,
            globals: Any = None,  # noqa: A002, ANN401  as in __import__
            locals: Any = None,  # noqa: A002, ANN401  as above
            fromlist: Any = (),  # noqa: ANN401  as above
            level: int = 0,
        ) -> ModuleType:
            found = plain(name, globals, locals, fromlist, level)
            if importer := (globals or {}).get("__name__"):
                package = (globals or {}).get("__package__") or ""
                whole = resolve_name("." * level + name, package) if level else name
                further = {f"{whole}.{each}" for each in fromlist or ()}
                self._needs.setdefault(importer, set()).update({whole, *further})
            return found

        builtins.__import__ = noting
        try:
            for name in names:
                before = set(sys.modules)
                __import__(name)
                self._needs.setdefault(name, set()).update(set(sys.modules) - before)
        finally:
            builtins.__import__ = plain

    def park(self) -> None:
        """Set aside what was imported beyond what every interpreter has."""
        for name in set(sys.modules) - self._plain:
            module = sys.modules.pop(name)
            if self._known.get(name) is module or self._is_of_library(name, module):
                self._parked[name] = self._known[name] = module
            else:  # what it defines may be in use
                self._gone.append(module)
        self._finders = self._finders or [self, *sys.meta_path]
        sys.meta_path[:] = self._finders  # who listens for an import puts itself before these

    def find_spec(
        self, fullname: str, _: Sequence[str] | None, __: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what brings a module back; None: it is not here, or another one is meant."""
        module = self._parked.get(fullname)
        if module is None or fullname.partition(".")[0] in self._found_first():
            return None
        return _spec_like(
            getattr(module, "__spec__", None), fullname, _Return(self, fullname, module)
        )

    def bring_back(self, name: str) -> None:
        """Have a module imported, with all that it needs."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            if (one := waiting.pop()) in found:
                continue
            found.add(one)
            waiting += self._needs.get(one, ())
            waiting += [one.rpartition(".")[0]] if "." in one else []
        back = {each for each in found & self._parked.keys() if each not in sys.modules}
        for each in back | {name}:
            sys.modules[each] = self._parked.pop(each)
        self._on_return(back | {name})

    def _found_first(self) -> set[str]:
        """Return what would be found before the library: beside a script, say."""
        names: set[str] = set()
        for folder in set(sys.path) - self._searched:
            try:
                inside = os.listdir(folder)  # noqa: PTH208  pathlib is slower
            except OSError:
                continue
            names |= {each.partition(".")[0] for each in inside}
        return names

    def _is_of_library(self, name: str, module: ModuleType) -> bool:
        if name.partition(".")[0] in _OURS:
            return False
        spec = getattr(module, "__spec__", None)
        file = getattr(module, "__file__", None) or getattr(spec, "origin", None) or ""
        return not file.startswith(os.sep) or any(
            os.path.realpath(file).startswith(each + os.sep) for each in self._library
        )


class _Return:
    """A loader that executes nothing, as it has the module."""

    def __init__(self, parking: Parking, name: str, module: ModuleType) -> None:
        self._parking = parking
        self._name = name
        self._module = module
        self._spec = module.__spec__

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        self._parking.bring_back(self._name)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the loader has
        return getattr(None if self._spec is None else self._spec.loader, name)


def _spec_like(spec: ModuleSpec | None, name: str, loader: Any) -> ModuleSpec:  # noqa: ANN401  a loader
    if spec is None:
        return ModuleSpec(name, loader)
    like = ModuleSpec(name, loader, origin=spec.origin, loader_state=spec.loader_state)
    like.submodule_search_locations = spec.submodule_search_locations
    like.has_location = spec.has_location
    like.cached = spec.cached
    return like
