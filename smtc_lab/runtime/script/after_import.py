"""Calls a function right after a module was imported for the first time."""

from __future__ import annotations

import sys
from contextlib import nullcontext

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(
    name: str,
    callback: Callable[[], None],
    *,
    during: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Call ``callback`` once, right after the module ``name`` has been executed.

    Args:
        name: The module's whole name.
        callback: Not called where the import fails.
        during: Makes what is entered before the module is executed, and left after that.
    """
    sys.meta_path.insert(0, _AfterImport(name, callback, during))


class _AfterImport:
    """A finder that changes nothing but listens for the end of one module's execution."""

    def __init__(
        self,
        name: str,
        callback: Callable[[], None],
        during: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._name = name
        self._callback = callback
        self._during = during

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module as usual, and listen.

        Whoever finds it may only ask whether it is there, as transformers does with torch.
        """
        if fullname != self._name or self not in sys.meta_path:
            return None
        spec = self._found_behind(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            if self not in sys.meta_path:
                execute(module)
                return
            sys.meta_path.remove(self)
            with self._during():
                execute(module)
            self._callback()

        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]  # this loader's own
        return spec

    def _found_behind(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Return what the finders behind this one find; those before it found nothing."""
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
        return None
