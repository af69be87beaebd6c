"""The runs and studies there are, as a table: in a shell, in a notebook, for pandas."""

from __future__ import annotations

import csv
import importlib
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.display import in_notebook
from smtc_lab.errors import SpecError
from smtc_lab.machine.installed import pandas
from smtc_lab.store.run_folder import find_runs, runs_root
from smtc_lab.study.folder import studies_root
from smtc_lab.study.stored import find_studies
from smtc_lab.text_table import aligned
from smtc_lab.views.run_table.cells import cell_of, csv_value, differ, title_of
from smtc_lab.views.run_table.facts import (
    BASE,
    LAUNCHES,
    METRIC,
    PARAM,
    facts_of_run,
    facts_of_study,
    launches_in,
    row_of,
)
from smtc_lab.views.run_table.kept_facts import KeptFacts
from smtc_lab.views.run_table.where import condition, known_name, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import StrPath

    from smtc_lab.views.run_table.facts import Facts

_FIRST = ("name", "state", "started", "took_s", "steps", "step_time_s", "cost_usd")
_LAST = ("cluster",)
_MOST_PARAMS = 6
_MOST_METRICS = 3
MOST_SHOWN = 200
"""Rows that a notebook shows and keeps, at most."""


@dataclass(frozen=True, kw_only=True)
class RunTable:
    """Runs and studies under one folder, oldest first; shows itself as a table.

    ::

        runs = lab.runs()
        runs.where('loss < 0.3 and state == "Completed"').sort("cost_usd")
        runs.columns("name", "lr", "loss", "loss.min")
        runs.to_pandas()
    """

    rows: tuple[Facts, ...]
    """What is known of each: ``name``, ``state``, ``cost_usd``, …, ``param.<name>`` of its
    hyperparameters and arguments, ``metric.<name>`` of what it logged."""

    root: Path
    """Where they lie."""

    shown: tuple[str, ...] = ()
    """Columns that are shown; empty: the usual ones, and what differs."""

    left_out: tuple[str, ...] = ()
    """What was known of rows that are left out: to be asked for all the same."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything that is known of some of them: what all have first."""
        return tuple(dict.fromkeys(chain(BASE, *self.rows)))

    def where(self, text: str) -> RunTable:
        """Return those of which a condition holds; of what is not known none does.

        Args:
            text: ``loss < 0.3 and cost_usd < 2``, ``"digits" in script``,
                ``started > "2026-11-01"``.

        Raises:
            SpecError: It cannot be read, or names what no run has.
        """
        holds = condition(text, self._asked_for)
        return self.keeping(row for row in self.rows if holds(row))

    def sort(self, name: str) -> RunTable:
        """Return them by a value, least first; ``-name``: greatest first. Unknown ones last.

        Raises:
            SpecError: No run has it.
        """
        wanted = known_name(name.removeprefix("-"), self._asked_for)
        valued = [(value_of(row, wanted), row) for row in self.rows]
        is_text = any(isinstance(value, str) for value, _ in valued)
        known: list[tuple[Any, Facts]] = [
            (str(value) if is_text else value, row)
            for value, row in valued
            if value is not None
        ]
        known.sort(key=itemgetter(0), reverse=name.startswith("-"))
        unknown = [row for value, row in valued if value is None]
        return replace(self, rows=(*(row for _, row in known), *unknown))

    def columns(self, *names: str) -> RunTable:
        """Return them with these columns.

        Raises:
            SpecError: No run has one of them.
        """
        shown = tuple(known_name(name, self._asked_for) for name in names)
        return replace(self, shown=shown)

    @property
    def without_launches(self) -> RunTable:
        """Those that no study, calibration or proof of resuming launched."""
        return self.keeping(
            row for row in self.rows if row["study"] is None and row["made_by"] is None
        )

    @property
    def _asked_for(self) -> tuple[str, ...]:
        return (*self.names, *self.left_out)

    def keeping(self, rows: Iterable[Facts]) -> RunTable:
        """Return some of them."""
        return replace(self, rows=tuple(rows), left_out=self._asked_for)

    def newest(self, count: int) -> RunTable:
        """Return the last so many rows."""
        return replace(self, rows=self.rows[-count:])

    def first(self, count: int) -> RunTable:
        """Return the first so many rows."""
        return replace(self, rows=self.rows[:count])

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame`` of everything that is known.

        Raises:
            SpecError: pandas is not installed.
        """
        library = pandas(without=".rows has a dict of each run", refusal=SpecError)
        return library.DataFrame(list(self.rows))

    def to_csv(self, path: StrPath) -> None:
        """Write everything that is known as CSV, a line for each row.

        Times are ISO 8601 in UTC. A text that a spreadsheet would take for a formula has an
        apostrophe before it.

        Raises:
            SpecError: It cannot be written.
        """
        try:
            with Path(path).open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, self.names)
                writer.writeheader()
                for row in self.rows:
                    writer.writerow(
                        {name: csv_value(name, value) for name, value in row.items()}
                    )
        except OSError as error:
            raise SpecError(
                f"{str(path)!r} cannot be written ({error.strerror}). Choose another place."
            ) from error

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        if not self.rows:
            return f"No such runs in {self.root}."
        return "\n".join(aligned(self._cells()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from smtc_lab.views.text.rendering import render  # noqa: PLC0415  a terminal needs no templates

        shown = self.first(MOST_SHOWN)
        columns, *rows = shown._cells()  # noqa: SLF001  of its own class
        return render(
            "display_run_table.html.j2",
            columns=columns,
            rows=rows,
            nothing="" if self.rows else str(self),
            more=len(self) - len(shown),
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """Return the table to click in, where there is a notebook; else nothing beside HTML."""
        if not in_notebook():
            return {}
        # a terminal needs no widgets
        widget = importlib.import_module("smtc_lab.views.run_table.widget")
        bundle: dict[str, Any] = widget.bundle_of(self)
        return bundle

    def usual_columns(self) -> tuple[str, ...]:
        """Return what is shown: what was chosen, or what every run has and what differs.

        That is at most 6 parameters and 3 metrics that are not the same in all runs, those
        first that most runs have.
        """
        if self.shown:
            return self.shown
        counts = Counter(chain.from_iterable(self.rows))
        own = [row for row in self.rows if row["kind"] == "run"]

        def differing(prefix: str, *but: str) -> Iterator[str]:
            for name, _ in counts.most_common():
                is_one = name.startswith(prefix) and not name.endswith(but)
                if is_one and differ([row.get(name) for row in own]):
                    yield name

        params = islice(differing(PARAM), _MOST_PARAMS)
        metrics = islice(differing(METRIC, ".min", ".max"), _MOST_METRICS)
        wanted = (*_FIRST, *params, *metrics, *_LAST)
        return tuple(
            name for name in wanted if any(row.get(name) is not None for row in self.rows)
        )

    def _cells(self) -> list[tuple[str, ...]]:
        columns = self.usual_columns()
        rows = (tuple(cell_of(row, name) for name in columns) for row in self.rows)
        return [tuple(map(title_of, columns)), *rows]


def runs(root: StrPath | None = None, *, launches: bool = False) -> RunTable:
    """Return the runs and studies there are, with what each took, cost and logged.

    ::

        lab.runs().where("loss < 0.3 and cost_usd < 2").sort("cost_usd")

    What has ended is read once and kept in a hidden file beside the runs.

    Args:
        root: Folder of runs; None: the default one.
        launches: Whether what studies, calibrations and proofs of resuming launched are rows
            too; else a study stands for its launches.

    Raises:
        StoreError: The folder may not be read.
    """
    path = runs_root(root)
    kept = KeptFacts(path)

    def facts_at(where: Path, read: Callable[[], tuple[Facts, bool]]) -> Facts:
        facts = kept.of(where)
        if facts is None:
            facts, is_final = read()
            if is_final:
                kept.keep(where, facts)
        return facts

    found = kept.runs()
    for folder in find_runs(path, known=found.keys()):
        found[folder.job_name] = facts_at(folder.path, partial(facts_of_run, folder))
    rows = cache(lambda: {name: row_of(facts) for name, facts in found.items()})
    studies = []
    for _, where in find_studies(studies_root(path)):
        facts = dict(facts_at(where, lambda where=where: facts_of_study(where, rows())))  # type: ignore[misc]
        for name, label in launches_in(facts):
            if name in found:
                found[name] = {**found[name], "study": where.name, "launch": label}
        facts.pop(LAUNCHES, None)
        studies.append(facts)
    kept.write()
    rows_of_all = tuple(sorted([*found.values(), *studies], key=_begun))
    table = RunTable(rows=rows_of_all, root=path)
    return table if launches else table.without_launches


def _begun(facts: Facts) -> tuple[float, str]:
    started = facts["started"]
    is_known = isinstance(started, int | float)
    return float(started) if is_known else math.inf, str(facts["name"])  # type: ignore[arg-type]
