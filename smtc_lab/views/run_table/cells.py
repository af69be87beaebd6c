"""How the table of runs writes a value, and what its columns are."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import TYPE_CHECKING, Literal

from smtc_lab.views.run_list import moment
from smtc_lab.views.run_table.facts import METRIC, PARAM
from smtc_lab.views.run_table.where import value_of
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from smtc_lab.views.run_table.facts import Facts, Value

ColumnKind = Literal["time", "seconds", "usd", "number", "text", "bool"]
"""What the values of a column are: seconds since the epoch, seconds, US dollars, …"""

_WIDEST = 48
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ABSENT = "—"
"""Stands for what is not known, or not there: which one, a table has no room to say."""

_TITLES = {
    "took_s": "took",
    "step_time_s": "s/step",
    "cost_usd": "cost",
    "usd_per_hour": "$/h",
    "name": "run",
}
_KINDS: dict[str, ColumnKind] = {
    "started": "time",
    "took_s": "seconds",
    "step_time_s": "seconds",
    "cost_usd": "usd",
    "usd_per_hour": "usd",
}
_SHOWN_AS: dict[ColumnKind, Callable[[float], str]] = {
    "time": moment,
    "seconds": fmt.seconds,
    "usd": fmt.usd,
}


def title_of(name: str) -> str:
    """Return what stands above a column."""
    return _TITLES.get(name, fmt.plain(name.removeprefix(METRIC).removeprefix(PARAM), _WIDEST))


def cell_of(row: Facts, name: str) -> str:
    """Return a value of a row as a table shows it; a title stands before the name."""
    if name == "name" and (title := row.get("title")):
        return fmt.plain(f"{title} ({row['name']})", 2 * _WIDEST)
    return _cell(name, value_of(row, name))


def csv_value(name: str, value: Value) -> Value:
    """Return a value as a file of CSV has it: a time as ISO 8601 in UTC, and no formula."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if _KINDS.get(name) == "time" and isinstance(value, int | float):
        with contextlib.suppress(ValueError, OverflowError, OSError):  # no year that there is
            return dt.datetime.fromtimestamp(value, dt.UTC).isoformat(timespec="seconds")
    return value


def differ(values: Collection[Value]) -> bool:
    """Return whether values are not all the same; what is not known, None, is a value, too.

    A single row is compared with nothing: all of it counts.
    """
    return len(values) == 1 or len(set(values)) > 1


def kinds_of(names: Iterable[str], rows: Iterable[Facts]) -> dict[str, ColumnKind]:
    """Return of each name what its values are: numbers where all that are known are numbers."""
    found: dict[str, set[type]] = {name: set() for name in names}
    for row in rows:
        for name, value in row.items():
            if value is not None and name in found:
                found[name].add(type(value))

    def kind(types: set[type]) -> ColumnKind:
        if not types or str in types:
            return "text"
        return "bool" if types == {bool} else "number"

    return {name: _KINDS.get(name) or kind(types) for name, types in found.items()}


def _cell(name: str, value: Value) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return _ABSENT
    if isinstance(value, str):
        return fmt.plain(fmt.state_word(value) if name == "state" else value, _WIDEST)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in _KINDS:
        return _SHOWN_AS[_KINDS[name]](value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
