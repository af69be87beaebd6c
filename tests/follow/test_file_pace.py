from __future__ import annotations

import pytest

from smtc_lab.follow.file_pace import AT_EACH_LOOK, FilePace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time that a pace sees, which the test turns."""
    now_s = [50.0]
    monkeypatch.setattr("smtc_lab.follow.file_pace.time.monotonic", lambda: now_s[0])
    return now_s


def test_few_files_are_looked_at_whenever_somebody_looks(clock: list[float]) -> None:
    pace = FilePace(0.001)

    assert [pace.is_due(AT_EACH_LOOK) for _ in range(3)] == [True] * 3
    assert clock == [50.0]


def test_many_files_are_looked_at_after_their_time(clock: list[float]) -> None:
    pace = FilePace(0.001)

    first = pace.is_due(500)
    clock[0] += 0.49
    early = pace.is_due(500)
    clock[0] += 0.02
    due = pace.is_due(500)

    assert (first, early, due) == (True, False, True)


def test_the_last_look_is_always_due(clock: list[float]) -> None:
    pace = FilePace(0.001)
    pace.is_due(500)

    assert pace.is_due(500, is_last=True)
    assert not pace.is_due(500)
    assert clock == [50.0]
