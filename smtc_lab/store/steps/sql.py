"""The questions about the steps of ranks whose files are joined."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.across_ranks import ACROSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.records.across_ranks import Across


@functools.lru_cache(maxsize=256)
def rows_sql(
    num_ranks: int,
    columns: tuple[str, ...],
    lacks: frozenset[str] = frozenset(),
    *,
    parts: bool = False,
) -> str:
    """Return what selects the rows of all ranks, joined, between two row numbers.

    Args:
        num_ranks: Files, at most ``TOGETHER``.
        columns: Names of the columns, of ``ACROSS``.
        lacks: Those of them that the files, of an older smtc_lab, do not have.
        parts: Whether to select the parts that a ``RankFold`` takes.
    """
    schemas = ["main", *(f"r{place}" for place in range(1, num_ranks))]
    # a CROSS JOIN keeps this order: SQLite would weigh all others, for longer than it reads
    joins = "".join(
        f" CROSS JOIN {schema}.step_record"
        f" ON {schema}.step_record.rowid = main.step_record.rowid"
        for schema in schemas[1:]
    )
    selected = []
    for name in columns:
        made = ACROSS[name]
        found = ["NULL"] * made.num_parts if name in lacks else _parts(made, schemas)
        selected += found if parts else [f"{_whole(made, found, num_ranks)} AS {name}"]
    return (
        f"SELECT {', '.join(selected)} FROM main.step_record{joins}"  # noqa: S608  our own names
        " WHERE main.step_record.rowid > ? AND main.step_record.rowid <= ?"
        " ORDER BY main.step_record.rowid"
    )


def bins_sql(num_ranks: int, columns: tuple[str, ...]) -> str:
    """Return what selects least, greatest and mean value of columns in bins of joined rows."""
    rows = rows_sql(num_ranks, columns)
    inner = rows.replace("SELECT ", "SELECT main.step_record.rowid AS row, ", 1)
    # ordered already, by the key of the table; a second ORDER BY would sort
    made = ", ".join(f"min({name}), max({name}), avg({name})" for name in columns)
    return f"SELECT {made} FROM ({inner}) GROUP BY (row - 1 - ?) / ?"  # noqa: S608  our own names


def _parts(made: Across, schemas: Sequence[str]) -> list[str]:
    """Return what a ``RankFold`` takes of a column."""
    fields = [f"{schema}.step_record." for schema in schemas]
    each = [f"{of}{made.of}" + (f" - {of}{made.less}" if made.less else "") for of in fields]
    match made.how:
        case "first":
            return each[:1]
        case "min" | "max":
            return [_extreme(made.how, each)]
        case "sum" | "mean":
            return [_total(each)]
        case "ratio":
            return [_total(each), _total([f"{of}{made.per}" for of in fields])]
        case "argmin":
            least = _extreme("min", each)
            places = " ".join(f"WHEN {one} THEN {place}" for place, one in enumerate(each))
            return [least, f"CASE {least} {places} END"]


def _whole(made: Across, parts: Sequence[str], num_ranks: int) -> str:
    """Return a column, made of its parts, as ``RankFold.columns`` does."""
    match made.how:
        case "mean":
            return f"{parts[0]} / {num_ranks}.0"
        case "ratio":
            return f"{parts[0]} / {parts[1]}"
        case _:
            return parts[-1]


def _total(values: Sequence[str]) -> str:
    return f"({' + '.join(values)})"


def _extreme(function: str, values: Sequence[str]) -> str:
    # max() of one argument would be an aggregate
    return values[0] if len(values) == 1 else f"{function}({', '.join(values)})"
