"""Private names of torch: looked up one by one, and said of those that it does not have.

They may be gone in any release. Whoever uses one asks here first, so that a torch that lacks it
is told by name, and not by an ``AttributeError`` somewhere in a step.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from smtc_lab.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.errors import SmtcLabError

TESTED_TORCH = ("2.9", "2.15")
"""First and last release of torch that our tests run with."""

TESTED_XLA = ("2.9", "2.9")
"""The same of torch_xla, which has had none since."""


def private_name(name: str) -> Any:  # noqa: ANN401  whatever it stands for
    """Return what a name of torch stands for; its module is imported.

    Args:
        name: Module, colon, and what is asked of it: ``torch.nn:Module._call_impl``; with
            nothing after the colon, the module.

    Raises:
        LookupError: This torch does not have it.
    """
    try:
        return pkgutil.resolve_name(name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("torch"):
            raise  # torch has it, and needs a package that is not there
        raise LookupError(name) from error
    except AttributeError as error:
        raise LookupError(name) from error


def needed_name(
    name: str,
    what_for: Mapping[str, str],
    *,
    error: type[SmtcLabError],
    instead: str,
) -> Any:  # noqa: ANN401  as above
    """Return what a name of a list stands for.

    Args:
        name: As for ``private_name``, one of the list.
        what_for: What is lost without each name, to follow "which".
        error: What is raised where this torch does not have it.
        instead: What can be done beside using a release that has it, to follow "or".

    Raises:
        SmtcLabError: ``error``, with both.
    """
    try:
        return private_name(name)
    except LookupError as missing:
        raise error(lacking(name, what_for[name], instead=instead)) from missing


def lacking(name: str, what_for: str, *, instead: str) -> str:
    """Return the sentences that torch does not have a name, and what to do."""
    return f"{lacks(name, what_for)} {releases_tested(name)}; use one of these, or {instead}."


def lacks(name: str, what_for: str) -> str:
    """Return the sentence that torch does not have a name.

    Args:
        name: As for ``private_name``.
        what_for: What it does, to follow "which".
    """
    package = name.partition(":")[0].partition(".")[0]
    shown = name.replace(":", ".").rstrip(".")
    return f"{package} {_version_of(package)} has no {shown}, which {what_for}."


def releases_tested(name: str) -> str:
    """Return which releases of a name's package were tested, without a full stop."""
    package = name.partition(":")[0].partition(".")[0]
    first, last = TESTED_XLA if package == "torch_xla" else TESTED_TORCH
    releases = first if first == last else f"{first} to {last}"
    return f"smtc_lab {__version__} was tested with {package} {releases}"


def untested() -> str | None:
    """Return the sentence that this torch is none of the tested releases; None: it is one."""
    version = _version_of("torch")
    first, last = map(release, TESTED_TORCH)
    if first <= release(version) <= last:
        return None
    return f"{releases_tested('torch:')}, and this is {version}."


def release(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version, which are compared."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _version_of(package: str) -> str:
    return str(importlib.import_module(package).__version__)
