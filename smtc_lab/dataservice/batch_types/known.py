"""Classes that this process has imported, found by name; nothing is imported, no code runs."""

from __future__ import annotations

import os
import sys


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


def is_of_script(file: object) -> bool:
    """Return whether a file of Python is the script's own: it lies where the script does."""
    main = sys.modules["__main__"].__dict__.get("__file__", "")
    folder = os.path.dirname(os.path.abspath(str(main))) + os.sep  # noqa: PTH100, PTH120  pathlib is slow
    return isinstance(file, str) and file.startswith(folder) and "site-packages" not in file


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
