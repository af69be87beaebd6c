"""Which tests `make test` runs, and in which lane of `make test-deep` the others are."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

TABLE = Path(__file__).parents[1] / "deep.toml"
ANY = "any"
"""As a lane: every test, of `make test` and of all lanes."""


@cache
def table() -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return what stays in `make test` all the same, and the entries of each lane."""
    read = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    lanes = {lane: tuple(entries) for lane, entries in read["lanes"].items()}
    return tuple(read["quick"]), lanes


def lane_of(item: pytest.Item) -> str | None:
    """Return the lane of a test; None: it is one of `make test`."""
    if item.get_closest_marker("soak") is not None:
        return "soak"
    if "xla_environment" in getattr(item, "fixturenames", ()):
        return "xla"
    quick, lanes = table()
    name = item.nodeid.removeprefix("tests/")
    if _is_one_of(name, quick):
        return None
    return next((lane for lane, entries in lanes.items() if _is_one_of(name, entries)), None)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of the lane that is asked for, and those that are asked for by name."""
    wanted = config.getoption("lane")
    if wanted == ANY:
        items_left = [item for item in items if lane_of(item) != "soak"]
    elif "soak" in config.option.markexpr:
        return
    else:
        named = [it for it in config.invocation_params.args if "::" in it]
        items_left = [
            item
            for item in items
            if lane_of(item) == wanted or any(item.nodeid.startswith(it) for it in named)
        ]
    left = set(items_left)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = items_left


def _is_one_of(name: str, entries: tuple[str, ...]) -> bool:
    return any(pattern(entry).match(name) for entry in entries)


@cache
def pattern(entry: str) -> re.Pattern[str]:
    """Return what an entry means: a folder, a file or a case, "*" being anything."""
    return re.compile(".*".join(map(re.escape, entry.split("*"))) + r"(?=$|[\[:/])")
