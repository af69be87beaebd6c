"""Every number of a rendered table has an interval, or a word that says why not."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.figures import frame as frame_module
from smtc_lab.views.plan.words import COLUMNS, plan_text, table_cells, table_points
from smtc_lab.views.report.html import report_html
from smtc_lab.views.text.table import comparison_rows, cost_rows
from tests.kit.plans import example_plan
from tests.kit.records import interleaved_runs

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords

EXACT = {
    "instances": "what was asked for",
    "$/h": "a price",
    "steps": "a count",
    "cluster": "what was asked for",
    "price": "a date",
    "USD per hour": "a price",
    "date": "a date",
    "vCPUs": "what the catalog says",
    "CPU quota": "what was asked for",
    "warm-up steps": "a count",
    "start-up": "of one launch, as it was recorded",
    "end": "of one launch, as it was recorded",
    "whole run": "of one launch, as it was recorded",
}
"""Rows and columns whose numbers have no interval, and what they are."""

INTERVAL = re.compile(r"\(\S+( to |\u2013)\S+( in 1 launch)?\)")
WHY_NOT = ("one value", "one launch", "unknown", "too short to tell", "not priced")


def bare(lines: list[str]) -> list[str]:
    """Return the lines that hold a number, no interval and no word for its absence."""
    return [
        line
        for line in lines
        if re.search(r"\d", line)
        and not INTERVAL.search(line)
        and not any(word in line for word in WHY_NOT)
    ]


class Tables(HTMLParser):
    """The cells of a page's tables: each with the heads of its row and its column."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[tuple[str, str, list[str]]] = []
        self._columns: list[str] = []
        self._row = ""
        self._place = -1
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        scope = dict(attrs).get("scope")
        if tag == "table":
            self._columns = []
        elif tag == "tr":
            self._place = -1
        elif tag == "th":
            self._in = scope or ""
            self._place += self._in == "row"
            if self._in == "col":
                self._columns.append("")
            self._row = "" if self._in == "row" else self._row
        elif tag in {"div", "br", "p"} and self._in == "td":
            self.cells[-1][2].append("")
        elif tag == "td":
            self._in = "td"
            self._place += 1
            column = self._columns[self._place] if self._place < len(self._columns) else ""
            self.cells.append((self._row, column, [""]))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "row":
            self._row += data.strip()
        elif self._in == "col":
            self._columns[-1] += data.strip()
        elif self._in == "td":
            self.cells[-1][2][-1] += data


@pytest.fixture(scope="module", params=[1, 3])
def compared(request: pytest.FixtureRequest) -> tuple[Comparison, list[RunRecords]]:
    runs = interleaved_runs(
        rounds=request.param,
        emulation=Emulation(cores_per_vcpu=0.045, device_step_time_s=0.04),
        device_time_s=0.04,
    )
    created = "2026-11-23T00:00:00+00:00"
    return compare_runs(runs, catalog=Catalog.load(), created=created, machine={}), runs


def test_in_the_rows_of_a_comparison(
    compared: tuple[Comparison, list[RunRecords]],
) -> None:
    rows = [*comparison_rows(compared[0]), *cost_rows(compared[0])]

    assert {
        (row.label, line)
        for row in rows
        if row.label not in EXACT
        for cell in row.cells
        for line in bare(list(cell))
    } == set()


def test_in_the_tables_of_a_report(
    compared: tuple[Comparison, list[RunRecords]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_module, "PNG_DPI", 30)
    found = Tables(report_html(*compared)).cells

    assert len(found) > 30
    assert {
        (row, column, line)
        for row, column, lines in found
        if not {row, column} & set(EXACT)
        for line in bare(lines)
    } == set()


def test_in_the_table_of_a_plan() -> None:
    cells = [
        (column, cell)
        for point in table_points(example_plan())
        for column, cell in zip(COLUMNS, table_cells(point), strict=True)
    ]

    assert len(cells) >= len(COLUMNS)
    assert {
        (column, cell) for column, cell in cells if column not in EXACT and bare([cell])
    } == set()


def test_in_the_lines_of_a_plan_in_a_terminal() -> None:
    heads: list[str] = []
    cells: list[tuple[str, str]] = []
    for line in plan_text(example_plan()).splitlines():
        row = re.split(r" {3,}", line)
        if row[0] == "cluster":
            heads = row
        else:
            cells += list(zip(heads, row, strict=False))

    assert {head for head, _ in cells} >= {"s/step", "$/1,000 steps", "$/job"}
    assert {(head, cell) for head, cell in cells if head not in EXACT and bare([cell])} == set()
