"""Instance types and prices; each number has its kind, source and date."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from smtc_lab.catalog.price_refresh import Refresh as Refresh
    from smtc_lab.catalog.price_refresh import refresh as refresh

_HOMES = dict.fromkeys(["Refresh", "refresh"], "smtc_lab.catalog.price_refresh")

__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> object:  # loaded when asked for: most processes never ask
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
