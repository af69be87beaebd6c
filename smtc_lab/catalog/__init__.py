"""Instance types and prices; each number has its kind, source and date."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from smtc_lab.catalog.price_refresh import Refresh, refresh

__all__ = ["Refresh", "refresh"]


def __getattr__(name: str) -> object:  # loaded when asked for: most processes never ask
    if name in __all__:
        return getattr(importlib.import_module("smtc_lab.catalog.price_refresh"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
