"""Code that is named as text: an entry of a table of ours, or of an installed package."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from smtc_lab.errors import SmtcLabError


def loaded(place: str) -> Any:  # noqa: ANN401  its caller knows what it asks for
    """Return what a ``module:name`` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def pandas(*, without: str, refusal: type[SmtcLabError]) -> Any:  # noqa: ANN401  as above
    """Return pandas, which need not be there.

    Args:
        without: What there is without it: ``.rows has a dict of each run``.
        refusal: What is raised.

    Raises:
        SmtcLabError: It is not installed.
    """
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise refusal(
            f"pandas is not installed. Run: pip install pandas. Without it, {without}."
        ) from error


def brought(group: str, name: str) -> Any | None:  # noqa: ANN401  as above
    """Return what an installed package brings; None: none has an entry of that name.

    Args:
        group: Group of its entry points.
        name: Of the entry.
    """
    found = entries(group)
    return found[name].load() if name in found.names else None


def entries(group: str) -> EntryPoints:
    """Return the entry points of a group that installed packages have."""
    from importlib.metadata import entry_points  # noqa: PLC0415  slow, and seldom needed

    return entry_points(group=group)
