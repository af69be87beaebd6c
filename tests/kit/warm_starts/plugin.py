"""Lets tests start processes with torch imported: a plugin of pytest.

A test with the mark ``cold`` starts all of them anew, as a user does, and so does every test
where ``SMTC_LAB_COLD`` is set, or torch_xla is in this environment.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.processes import tells_of_ends
from tests.kit.warm_starts.asking import WarmStarts

if TYPE_CHECKING:
    from collections.abc import Iterator

COLD_VARIABLE = "SMTC_LAB_COLD"

_STARTS = pytest.StashKey[WarmStarts]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Begin to start processes warm, once the variables of all tests are set."""
    can = sys.platform == "linux" and tells_of_ends() and find_spec("torch_xla") is None
    if can and not os.environ.get(COLD_VARIABLE):
        config.stash[_STARTS] = starts = WarmStarts()
        config.add_cleanup(starts.close)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Start what a test with the mark ``cold`` starts as a user does."""
    starts = item.config.stash.get(_STARTS, None)
    if starts is not None:
        starts.is_on = item.get_closest_marker("cold") is None
    return (yield)


def started_warm(config: pytest.Config) -> bool:
    """Return whether a test starts its processes warm, unless it has the mark ``cold``."""
    return _STARTS in config.stash
