"""Calls a function right after a module was imported for the first time."""

from __future__ import annotations

import importlib.util
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(name: str, callback: Callable[[], None]) -> None:
    """Call ``callback`` once, right after the module ``name`` has been executed."""
    sys.meta_path.insert(0, _AfterImport(name, callback))


class _AfterImport:
    """A finder that changes nothing but listens for the end of one module's execution."""

    def __init__(self, name: str, callback: Callable[[], None]) -> None:
        self._name = name
        self._callback = callback

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module as usual, and listen."""
        del path, target
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            self._callback()

        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]  # this loader's own
        return spec
