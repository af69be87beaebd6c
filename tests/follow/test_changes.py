from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.changes import Changes
from smtc_lab.follow.growing import Growing

if TYPE_CHECKING:
    from pathlib import Path

LONG_AGO_NS = 1_700_000_000 * 10**9


def written(path: Path, text: str, *, time_ns: int) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(time_ns, time_ns))


def test_a_file_is_new_once_and_changed_when_it_or_its_log_is(tmp_path: Path) -> None:
    changes, path = Changes(), tmp_path / "a.sqlite"
    assert not changes.in_file(path)

    written(path, "one", time_ns=LONG_AGO_NS)
    assert changes.in_file(path)
    assert not changes.in_file(path)

    written(tmp_path / "a.sqlite-wal", "row", time_ns=LONG_AGO_NS + 10)
    assert changes.in_file(path)
    assert not changes.in_file(path)


def test_a_file_written_a_moment_ago_may_be_written_again_within_one_tick(
    tmp_path: Path,
) -> None:
    changes, path = Changes(), tmp_path / "a.sqlite"
    written(path, "one", time_ns=2**62)  # in the future: never settled

    assert changes.in_file(path)
    assert changes.in_file(path)


def test_rows_that_grow_keep_their_place() -> None:
    rows = Growing(2)
    first = np.arange(3000.0).reshape(2, -1)
    rows.append(first)
    before = rows.values
    rows.append(first[:, :5])

    assert np.array_equal(before, first)
    assert np.array_equal(rows.values, np.concatenate([first, first[:, :5]], axis=1))
