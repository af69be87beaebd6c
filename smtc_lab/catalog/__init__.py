"""Instance types and prices; each number has its kind, source and date.

A table that comes with the package says what each instance type has and what an hour of it
costs. Prices that a user refreshed from AWS's public list lie in the user's own folder and win,
unless they cannot be trusted; then the old ones stay and a sentence says why. A price has a
kind and a date, a number that nobody published is None, and everything that costs money is
computed from here by ``metrics``. How fast one vCPU is beside another is known only relative to
one type. Decisions 30 and 43 say how types are searched and checked.
"""

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
