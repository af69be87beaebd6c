"""One page of the table of runs, as a browser shows it: filtered, sorted and cut here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.neutral_text import neutral
from smtc_lab.views.run_table.cells import differ, kinds_of, title_of
from smtc_lab.views.run_table.table import MOST_SHOWN, RunTable, runs
from smtc_lab.views.run_table.where import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.views.run_table.facts import Facts

ALL = "*"
"""In place of a study: all launches are rows, also those of calibrations and proofs."""

_MOST_COLUMNS = 100
_CONDITION = re.compile(r"""[<>=!"`]|(?<!\w)'""")
_SEARCHED = ("title", "name", "state", "script", "cluster", "tags", "note", "experiment")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a browser asks for.

    Raises:
        SpecError: ``first`` or ``count`` is out of range.
    """

    where: str = ""
    """A condition as ``RunTable.where`` takes it; without comparison and quotes: words, each of
    which stands somewhere in title, name, state, script, cluster, tags, note or experiment."""

    sort: str = ""
    """A column, least first; ``-column``: greatest first; empty: newest first."""

    columns: tuple[str, ...] = ()
    """Names; those that no run has are left out. Empty: the usual ones, and what differs."""

    first: int = 0
    """Place of the first row, from 0."""

    count: int = MOST_SHOWN
    """Rows, 1 to 200. Launches of opened studies are rows beside them, 200 for each study."""

    launches: tuple[str, ...] = ()
    """Studies that are opened; ``*``: every launch is a row."""

    def __post_init__(self) -> None:
        if not 0 <= self.first < 10**9 or not 1 <= self.count <= MOST_SHOWN:
            raise SpecError(
                f"first={self.first}, count={self.count} is no page. Ask from 0 on, for 1 to "
                f"{MOST_SHOWN} rows."
            )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Asked:
        """Return what JSON values, or the texts of an address, ask for.

        Raises:
            SpecError: They cannot be read.
        """
        lists = {name: given.get(name) or () for name in ("columns", "launches")}
        numbers = {name: given[name] for name in ("first", "count") if name in given}
        for name, value in numbers.items():
            if not re.fullmatch(r"[0-9]{1,9}", str(value)):
                raise SpecError(f"{name}={neutral(value, longest=80)!r} is no number of rows.")
        for name, many in lists.items():
            if not isinstance(many, list | tuple) or len(many) > MOST_SHOWN:
                raise SpecError(f"{name} is no list of {MOST_SHOWN} names at most.")
        return cls(
            where=str(given.get("where", "")),
            sort=str(given.get("sort", "")),
            columns=tuple(map(str, lists["columns"])),
            launches=tuple(map(str, lists["launches"])),
            first=int(numbers.get("first", 0)),
            count=int(numbers.get("count", MOST_SHOWN)),
        )


class Pages:
    """Pages of one table, which does not change.

    Args:
        table: Runs and studies, oldest first.
        launched: All runs of the folder, for the launches of studies; None: read when asked.
    """

    def __init__(self, table: RunTable, launched: RunTable | None = None) -> None:
        self.table = table
        self._launched = launched
        self._names = [name for name in table.names if not name.startswith("_")]
        self._kinds = kinds_of(self._names, table.rows)

    def page(self, asked: Asked) -> dict[str, Any]:
        """Return a page as JSON values. Its texts are those of the folder: not yet neutral.

        Raises:
            SpecError: The condition cannot be read, or no run has what is sorted by.
        """
        found = self._found(asked.where)
        newest_first = found.keeping(found.rows[::-1])
        found = found.sort(asked.sort) if asked.sort else newest_first
        rows = found.rows[asked.first : asked.first + asked.count]
        opened = {
            str(row["name"]): self._launches(row)
            for row in rows
            if row["kind"] != "run" and row["name"] in asked.launches
        }
        columns = [name for name in asked.columns if name in self._kinds][:_MOST_COLUMNS]
        if not columns:
            told = tuple(chain(found.rows or self.table.rows, *opened.values()))
            columns = list(replace(self.table, rows=told).usual_columns())
        shown = []
        for row in rows:
            launches = opened.get(str(row["name"]))
            shown.append(_row(row, columns, is_open=launches is not None))
            shown += [_row(each, columns, depth=1) for each in launches or ()]
        return {
            "total": len(self.table),
            "found": len(found),
            "first": asked.first,
            "root": str(self.table.root),
            "columns": columns,
            "differing": [
                name
                for place, name in enumerate(columns)
                if differ([row["cells"][place] for row in shown])
            ],
            "known": [
                {"name": name, "title": title_of(name), "kind": kind}
                for name, kind in self._kinds.items()
            ],
            "rows": shown,
        }

    def _found(self, text: str) -> RunTable:
        if not text.strip():
            return self.table
        if _CONDITION.search(text):
            return self.table.where(text)
        words = text.casefold().split()
        return self.table.keeping(row for row in self.table.rows if _has(row, words))

    def _launches(self, study: Facts) -> list[Facts]:
        if self._launched is None:
            self._launched = runs(self.table.root, launches=True)
        made = (row for row in self._launched.rows if row.get("study") == study["name"])
        return list(made)[:MOST_SHOWN]


def notes_asked(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``annotate`` is to write; what is not asked for stays.

    Raises:
        SpecError: It is neither texts nor a list of tags.
    """
    asked = {name: content[name] for name in ("tags", "note", "title") if name in content}
    tags = asked.get("tags", [])
    texts = [asked[name] for name in ("note", "title") if name in asked]
    is_list = isinstance(tags, list)
    if not asked or not is_list or not all(isinstance(one, str) for one in [*tags, *texts]):
        raise SpecError(
            f"Notes are {neutral(str(asked), longest=80)}, but must be tags, a list of texts, "
            "and note and title, which are texts. Load the page again."
        )
    return asked


def _has(row: Facts, words: Iterable[str]) -> bool:
    text = "\n".join(str(row.get(name) or "") for name in _SEARCHED).casefold()
    return all(word in text for word in words)


def _row(
    facts: Facts, columns: Iterable[str], *, depth: int = 0, is_open: bool = False
) -> dict[str, Any]:
    said = {name: facts.get(name) or "" for name in ("title", "tags", "note", "reason")}
    return {
        **{name: facts[name] for name in ("name", "kind", "state")},
        **said,
        "launch": facts.get("launch") or "" if depth else "",
        "depth": depth,
        "is_open": is_open,
        "cells": [value_of(facts, name) for name in columns],
    }
