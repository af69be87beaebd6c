from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.store.query import query
from smtc_lab.store.samples import read_samples
from smtc_lab.store.steps.columns import CHART_COLUMNS, StepColumns
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record, system_sample
from tests.kit.run_folders import write_many_steps

if TYPE_CHECKING:
    from pathlib import Path

STEP, END, TIME, WAIT, DEVICE, SHARE = range(len(CHART_COLUMNS))


def write(path: Path, *records: object) -> Path:
    with RecordWriter(path) as writer:
        for record in records:
            writer.append(record)
    return path


def steps(times_s: list[float], **fields: object) -> list[object]:
    return [
        step_record(step=number, step_time_s=time_s, end_time_s=100.0 + number, **fields)
        for number, time_s in enumerate(times_s)
    ]


def test_a_step_of_several_ranks_takes_as_long_as_the_slowest(tmp_path: Path) -> None:
    first = write(tmp_path / "a.sqlite", *steps([1.0, 2.0], data_wait_s=0.2, device_time_s=0.5))
    other = write(tmp_path / "b.sqlite", *steps([3.0, 1.0], data_wait_s=0.4, device_time_s=0.5))

    rows = StepColumns([first, other]).read(0)

    assert rows[TIME].tolist() == [3.0, 2.0]
    assert rows[WAIT].tolist() == pytest.approx([0.3, 0.3])
    assert rows[DEVICE].tolist() == [0.5, 0.5]
    assert rows[SHARE].tolist() == pytest.approx([1 / 4, 1 / 3])


def test_a_step_is_there_only_when_every_rank_has_it(tmp_path: Path) -> None:
    first = write(tmp_path / "a.sqlite", *steps([1.0, 1.0, 1.0]))
    other = write(tmp_path / "b.sqlite", *steps([1.0]))
    columns = StepColumns([first, other])

    assert columns.count() == 1
    assert columns.read(0)[STEP].tolist() == [0.0]
    assert columns.read(1).shape == (len(CHART_COLUMNS), 0)


def test_a_device_time_that_is_not_known_is_nan(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", *steps([1.0], device_time_s=None))

    rows = StepColumns([path]).read(0)

    assert np.isnan(rows[[DEVICE, SHARE], 0]).all()


def test_a_step_of_no_time_has_no_share_of_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", *steps([0.0], device_time_s=0.0))

    assert np.isnan(StepColumns([path]).read(0)[SHARE, 0])


def test_bins_are_those_of_the_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = write(tmp_path / "a.sqlite", *steps(list(rng.random(103)), device_time_s=0.1))
    columns = StepColumns([path])
    rows = columns.read(7, 100)

    bins = columns.bins(7, 100, 10)

    parts = np.split(rows, range(10, rows.shape[1], 10), axis=1)
    assert np.allclose(bins.low, np.stack([part.min(axis=1) for part in parts], axis=1))
    assert np.allclose(bins.high, np.stack([part.max(axis=1) for part in parts], axis=1))
    assert np.allclose(bins.mean, np.stack([part.mean(axis=1) for part in parts], axis=1))


def test_no_spike_is_lost_in_bins_of_many_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    write_many_steps(path, 20_000, spike_at=12_345)

    bins = StepColumns([path]).bins(0, 20_000, 64)

    assert bins.high[TIME].max() == 9.0
    assert int(bins.high[TIME].argmax()) == 12_345 // 64
    assert bins.mean.shape == (len(CHART_COLUMNS), -(-20_000 // 64))


def test_a_range_of_rows_is_what_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", *steps([0.1] * 10))

    assert StepColumns([path]).read(3, 6)[STEP].tolist() == [3.0, 4.0, 5.0]


def test_files_that_are_not_there_hold_nothing(tmp_path: Path) -> None:
    columns = StepColumns([tmp_path / "a.sqlite"])

    assert columns.count() == 0
    assert columns.read(0).shape == (len(CHART_COLUMNS), 0)
    assert read_samples(tmp_path / "b.sqlite").shape[1] == 0


def test_samples_come_behind_those_that_are_known(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", *(system_sample(time_s=float(n)) for n in range(4)))

    assert read_samples(path, 2)[0].tolist() == [2.0, 3.0]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"no database" * 100)

    with pytest.raises(StoreError, match=r"a\.sqlite' is damaged.*restore this one"):
        query([path], "SELECT 1 FROM step_record")
