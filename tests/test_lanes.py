"""The table of what `make test` leaves out names what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kit.lanes import lane_of, pattern, table

TESTS = Path(__file__).parent
QUICK, LANES = table()


@pytest.mark.parametrize("entry", [*QUICK, *(it for lane in LANES.values() for it in lane)])
def test_every_entry_names_tests_that_are_there(entry: str) -> None:
    file, _, case = entry.partition("::")
    name = re.match(r"\w*", case)

    assert (TESTS / file).exists(), f"tests/{file} is gone: take {entry} out of deep.toml"
    if name and name[0]:
        assert f"def {name[0]}(" in (TESTS / file).read_text(encoding="utf-8"), entry


@pytest.mark.parametrize("entry", QUICK)
def test_what_is_said_to_stay_would_else_be_left_out(entry: str) -> None:
    deep = [pattern(each) for lane in LANES.values() for each in lane]

    assert any(each.match(entry) for each in deep), f"{entry} is quick without an entry"


def test_a_case_is_in_the_lane_of_its_entry(request: pytest.FixtureRequest) -> None:
    assert lane_of(request.node) is None
    assert pattern("a/test_b.py").match("a/test_b.py::test_c[1]")
    assert pattern("a/test_b.py::test_c").match("a/test_b.py::test_c[1]")
    assert not pattern("a/test_b.py::test_c").match("a/test_b.py::test_cd")
    assert pattern("a/test_b.py::*RaySite*").match("a/test_b.py::test_c[RaySite-agent]")
    assert not pattern("a/test_b.py::*RaySite*").match("a/test_b.py::test_c[LocalSite]")
