from __future__ import annotations

import re

import pytest

from smtc_lab.views.text.column_widths import column_widths

WIDTH = re.compile(r"min\(([\d.]+)em, ([\d.]+)cqw - 1\.0em\)")


def parsed(widths: list[str]) -> list[tuple[float, float]]:
    found = [WIDTH.fullmatch(width) for width in widths]
    return [(float(match[1]), float(match[2])) for match in found if match]


def test_the_shares_of_all_columns_fill_the_room_and_no_more() -> None:
    rows = [["a-run", "InProgress", "x" * 99], ["another"]]

    widths = parsed(column_widths("run", ["state", "cluster"], rows))

    assert len(widths) == 3
    assert sum(share for _, share in widths) == pytest.approx(100, abs=0.1)


def test_a_column_has_room_for_its_longest_word_and_breaks_very_long_ones() -> None:
    (name, _), (state, _), (cluster, _) = parsed(
        column_widths("run", ["state", "cluster"], [["a-b-c d", "InProgress", "x" * 99]])
    )

    assert 0.5 < name < 3
    assert 5 < state < 8
    assert cluster == 14


def test_a_table_without_rows_has_columns_for_their_names() -> None:
    assert len(column_widths("run", ["state"], [])) == 2
