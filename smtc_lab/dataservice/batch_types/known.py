"""Classes that this process has imported, found by name; nothing is imported, no code runs."""

from __future__ import annotations

import os
import sys


class _ScriptToldOf:
    """What this process was told of the script that it does not run."""

    file: str | None = None


def known_object(module: str, name: str) -> object | None:
    """Return what a module of this process calls so; None: there is none.

    Args:
        module: Name of the module.
        name: Qualified name in it.
    """
    found: object = sys.modules.get(module)
    for part in name.split("."):
        # Not getattr: a module's __getattr__ may run code.
        found = getattr(found, "__dict__", {}).get(part)
    return found


def known_class(module: object, name: object) -> type | None:
    """Return a class of this process; None: it has none of this name.

    Args:
        module: Name of its module, as it came.
        name: Its qualified name, as it came.
    """
    if type(module) is not str or type(name) is not str:
        return None
    found = known_object(module, name)
    return found if isinstance(found, type) else None


def name_script(file: str) -> None:
    """Let a file count as the script's, in a process that does not run it."""
    _ScriptToldOf.file = file


def script_file() -> str:
    """Return the file of the script; empty: it has none."""
    if _ScriptToldOf.file is not None:
        return _ScriptToldOf.file
    main = sys.modules["__main__"].__dict__.get("__file__") or ""
    return os.path.abspath(main) if main else ""  # noqa: PTH100  pathlib is slow


def is_of_script(module: str) -> bool:
    """Return whether a module is the script's own: it lies where the script does."""
    if module == "__main__":
        return bool(script_file())
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = os.path.dirname(script_file()) + os.sep  # noqa: PTH120  as above
    return isinstance(file, str) and file.startswith(folder) and "site-packages" not in file


def is_found_by_name(kind: type) -> bool:
    """Return whether a trainer finds a class by its name.

    Where its script does not run, a class of ``__main__`` came with what is prepared.
    """
    if kind.__module__ == "__main__" and _ScriptToldOf.file is not None:
        return "<locals>" not in kind.__qualname__
    return known_class(kind.__module__, kind.__qualname__) is kind


def is_its_attributes(kind: type) -> bool:
    """Return whether an object of a class is its attributes, and nothing runs when it ends."""
    return (
        not issubclass(kind, type)
        and kind.__new__ is object.__new__
        and kind.__module__ != "builtins"
        and not hasattr(kind, "__del__")
        and bool(kind.__dictoffset__)
        and not any(vars(base).get("__slots__") for base in kind.__mro__)
    )
