"""How large a file is, and what becomes of curves that would make it larger."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smtc_lab.errors import ViewError
from smtc_lab.views.share.page import BARE, MOST_BYTES, THINNED, page
from smtc_lab.views.share.thinned import can_be_thinned, thinned
from tests.kit.comparison_runs import HETEROGENEOUS, HOMOGENEOUS
from tests.views.share.files_kit import (
    AT,
    PLAIN,
    data_in,
    outcome,
    text_of,
    words_in,
)


def curve(num_rows: int, *, columns: int = 2) -> dict[str, Any]:
    rows = [[float(row) for row in range(num_rows)] for _ in range(columns)]
    return {
        "columns": [f"c{place}" for place in range(columns)],
        "num_rows": num_rows,
        "width": 1,
        "last": [row[-1] for row in rows],
        "mean": rows,
    }


def test_a_thinned_curve_keeps_every_spike_and_its_mean() -> None:
    given = curve(9, columns=1)
    given["mean"][0][3] = 99.0
    given["mean"][0][8] = None

    once = thinned({"steps": given})
    (twice,) = thinned(once).values()

    (half,) = once.values()
    assert (half["width"], half["num_rows"]) == (2, 9)
    assert half["mean"] == [[0.5, 50.5, 4.5, 6.5, None]]
    assert half["low"] == [[0.0, 2.0, 4.0, 6.0, None]]
    assert half["high"] == [[1.0, 99.0, 5.0, 7.0, None]]
    assert twice["width"] == 4
    assert twice["high"] == [[99.0, 7.0, None]]
    assert not can_be_thinned({"steps": twice})


def test_the_mean_of_bins_counts_their_rows() -> None:
    given = {**curve(3, columns=1), "width": 2, "mean": [[1.0, 4.0]]}
    given |= {"low": [[0.0, 4.0]], "high": [[2.0, 4.0]]}
    many = {**given, "num_rows": 11, "mean": [[*[1.0] * 5, 4.0]], "low": [[0.0] * 6]}
    many["high"] = [[2.0] * 6]

    (found,) = thinned({"steps": many}).values()

    assert found["mean"] == [[1.0, 1.0, 2.0]]


def test_a_file_that_would_be_too_large_is_thinned_and_says_so() -> None:
    tables = {f"{place}/steps": curve(4_000, columns=5) for place in range(20)}
    told = replace(PLAIN, saved={**PLAIN.saved, "tables": tables})

    html = page(told, at=AT)

    assert len(html.encode()) <= MOST_BYTES
    assert THINNED in words_in(html)
    kept = data_in(html)["saved"]["tables"]
    assert set(kept) == set(tables)
    assert all(max(each["high"][0]) == 3_999 for each in kept.values())
    assert THINNED not in page(PLAIN, at=AT)


def test_curves_that_never_fit_are_left_out_and_the_file_says_so() -> None:
    tables = {f"{place}/steps": curve(4) for place in range(20_000)}
    told = replace(PLAIN, saved={**PLAIN.saved, "tables": tables})

    html = page(told, at=AT)

    assert len(html.encode()) <= MOST_BYTES
    assert BARE in words_in(html)
    assert data_in(html)["saved"]["tables"] == {}


def test_a_result_too_large_without_curves_is_refused_with_what_to_do() -> None:
    told = replace(PLAIN, saved={**PLAIN.saved, "info": {"notes": ["x" * MOST_BYTES]}})

    with pytest.raises(
        ViewError, match=r"'train-r1' makes a file of more than 1\.5 MB.*Share one of its runs"
    ):
        page(told, at=AT)


def test_the_largest_comparison_that_people_make_fits_whole() -> None:
    clusters = [
        replace(each, name=f"{place} {'x' * 40}", launches=20, steps=200)
        for place, each in enumerate((HOMOGENEOUS, *[HETEROGENEOUS] * 7))
    ]

    html = text_of(outcome(clusters=clusters))

    assert len(html.encode()) < MOST_BYTES
    assert THINNED not in html


def test_of_twenty_set_ups_launched_fifty_times_the_curves_are_thinned() -> None:
    clusters = [
        replace(each, name=f"{place} {'x' * 40}", launches=50, steps=60)
        for place, each in enumerate((HOMOGENEOUS, *[HETEROGENEOUS] * 19))
    ]

    html = text_of(outcome(clusters=clusters))

    assert len(html.encode()) <= MOST_BYTES
    assert THINNED in words_in(html)
    assert len(data_in(html)["saved"]["tables"]) == 20 * 50
