"""The watch over compilations of XLA, with made-up counts; the real one ends a script."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from smtc_lab.compiler.xla.limit import XlaCompileLimit
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT_S = 0.02


@pytest.fixture
def process_ended(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    ended = threading.Event()
    monkeypatch.setattr(XlaCompileLimit, "_end_process", lambda _: ended.set())
    return ended


def watch(counts: Iterable[tuple[int, int]]) -> tuple[XlaCompileLimit, threading.Event]:
    """Return a limit that sees these counts of begun and ended, and when it has seen all."""
    left, seen_all = iter(counts), threading.Event()
    last = (0, 0)

    def next_counts() -> tuple[int, int]:
        nonlocal last
        try:
            last = next(left)
        except StopIteration:
            seen_all.set()
        return last

    return XlaCompileLimit(LIMIT_S, counts=next_counts), seen_all


def test_a_compilation_that_does_not_end_ends_the_process(
    process_ended: threading.Event,
) -> None:
    limit, _seen_all = watch([(3, 3), (4, 3)])

    assert process_ended.wait(PATIENCE_S)
    limit.close()


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([(3, 3)] * 100, id="none"),
        pytest.param([(4, 3)] * 100, id="one that failed before"),
        pytest.param([(0, 0), *((n + 1, n) for n in range(100)), (100, 100)], id="short ones"),
    ],
)
def test_nothing_but_one_long_compilation_ends_the_process(
    process_ended: threading.Event, counts: list[tuple[int, int]]
) -> None:
    limit, seen_all = watch(counts)

    assert seen_all.wait(PATIENCE_S)
    limit.close()
    assert not process_ended.is_set()
