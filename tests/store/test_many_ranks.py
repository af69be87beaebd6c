"""Steps of more ranks than SQLite joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.metrics.columns import STEP_COLUMNS, step_columns
from smtc_lab.metrics.records.across_ranks import ACROSS, TOGETHER
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.steps.columns import CHART_COLUMNS, StepColumns
from tests.kit.run_folders import drawn_steps, write_rows

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

STEPS = 23
Fields = dict[str, "NDArray[np.float64]"]


def write_ranks(
    folder: Path, fields: Fields, lacks: dict[int, int] | None = None
) -> list[Path]:
    """Write a file for each rank; some lack so many of the last steps."""
    paths = []
    for rank, rows in enumerate(np.stack(list(fields.values()), axis=2)):
        paths.append(folder / f"algo-1-rank{rank}.sqlite")
        end = len(rows) - (lacks or {}).get(rank, 0)
        write_rows(paths[-1], map(tuple, rows[:end].tolist()))
    return paths


def by_numpy(fields: Fields) -> dict[str, NDArray[np.float64]]:
    """Return each column as it is said to be, shape (S,)."""
    means = (
        "data_wait_s",
        "device_time_s",
        "exposed_comm_s",
        "hidden_comm_s",
        "rank_wait_s",
        "backward_s",
        "local_grad_norm2",
    )
    firsts = ("comm_bytes", "num_buckets", "num_syncs", "mean_grad_norm2", "gathered_bytes")
    device_s, time_s = fields["device_time_s"], fields["step_time_s"]
    return {
        "step": fields["step"][0],
        "begin_time_s": (fields["end_time_s"] - time_s).min(axis=0),
        "end_time_s": fields["end_time_s"].max(axis=0),
        "step_time_s": time_s.max(axis=0),
        "rank_time_s": time_s.mean(axis=0),
        "device": device_s.sum(axis=0) / time_s.sum(axis=0),
        "num_samples": fields["num_samples"].sum(axis=0),
        "first_rank_samples": fields["num_samples"][0],
        "synchronized": fields["synchronized"].min(axis=0),
        "least_rank_wait_s": fields["rank_wait_s"].min(axis=0),
        "waited_for_rank": fields["rank_wait_s"].argmin(axis=0),
        **{name: fields[name].mean(axis=0) for name in means},
        **{name: fields[name][0] for name in firsts},
    }


@pytest.mark.parametrize("num_ranks", [1, 2, TOGETHER, TOGETHER + 1, 65, 130, 512])
def test_every_column_is_what_numpy_makes_of_all_ranks(tmp_path: Path, num_ranks: int) -> None:
    fields = drawn_steps(num_ranks, STEPS)
    expected = by_numpy(fields)

    rows = StepColumns(write_ranks(tmp_path, fields)).read(2, columns=tuple(ACROSS))

    for name, values in zip(ACROSS, rows, strict=True):
        np.testing.assert_allclose(values, expected[name][2:], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("num_ranks", [TOGETHER, 65])
def test_a_number_that_one_rank_does_not_know_is_not_known(
    tmp_path: Path, num_ranks: int
) -> None:
    fields = drawn_steps(num_ranks, STEPS)
    for name in ("device_time_s", "rank_wait_s"):
        fields[name][num_ranks - 2, 5] = np.nan
    names = ("device_time_s", "device", "rank_wait_s", "least_rank_wait_s", "waited_for_rank")

    rows = StepColumns(write_ranks(tmp_path, fields)).read(0, columns=names)

    assert np.flatnonzero(np.isnan(rows).all(axis=0)).tolist() == [5]
    assert np.isnan(rows).sum() == len(names)


@pytest.mark.parametrize("late", [0, 1, 40, 64])
def test_a_step_is_there_when_the_last_of_many_ranks_has_it(tmp_path: Path, late: int) -> None:
    fields = drawn_steps(65, STEPS)
    paths = write_ranks(tmp_path, fields, lacks={late: 3, 20: 1})
    columns = StepColumns(paths)

    before = columns.read(0)
    row = np.stack(list(fields.values()), axis=2)[late, STEPS - 3 :]
    write_rows(paths[late], map(tuple, row.tolist()))
    new = columns.read(before.shape[1])

    assert before.shape[1] == STEPS - 3
    assert new[0].tolist() == [STEPS - 3, STEPS - 2]
    assert columns.count() == STEPS - 1


@pytest.mark.parametrize("late", [0, 64])
def test_there_is_no_step_before_every_file_is_there(tmp_path: Path, late: int) -> None:
    paths = write_ranks(tmp_path, drawn_steps(65, STEPS))
    paths[late].unlink()
    columns = StepColumns(paths)

    assert columns.read(0, columns=STEP_COLUMNS).shape == (len(STEP_COLUMNS), 0)
    assert columns.count() == 0


@pytest.mark.parametrize("num_ranks", [TOGETHER, 65])
def test_live_columns_equal_those_of_the_end_to_the_last_digit(
    tmp_path: Path, num_ranks: int
) -> None:
    paths = write_ranks(tmp_path, drawn_steps(num_ranks, STEPS))

    live = StepColumns(paths).read(0, columns=STEP_COLUMNS)

    final = step_columns([read_records(path, StepRecord)[0] for path in paths])
    np.testing.assert_array_equal(live, final)


@pytest.mark.parametrize(("first", "end", "width"), [(0, 21, 4), (3, 23, 7), (5, 6, 100)])
def test_bins_of_many_ranks_are_those_of_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, end: int, width: int
) -> None:
    monkeypatch.setattr("smtc_lab.store.steps.columns._AT_ONCE", 5)
    fields = drawn_steps(65, STEPS)
    fields["device_time_s"][:, 8:20] = np.nan
    columns = StepColumns(write_ranks(tmp_path, fields))

    bins = columns.bins(first, end, width)

    rows = columns.read(first, end)
    assert (bins.first, bins.width) == (first, width)
    parts = [rows[:, at : at + width] for at in range(0, rows.shape[1], width)]
    for found, reduce in ((bins.low, np.fmin), (bins.high, np.fmax)):
        expected = np.stack([reduce.reduce(part, axis=1) for part in parts], axis=1)
        np.testing.assert_array_equal(found, expected)
    sums = np.stack([np.nansum(part, axis=1) for part in parts], axis=1)
    known = np.stack([(~np.isnan(part)).sum(axis=1) for part in parts], axis=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(bins.mean, sums / known)


@pytest.mark.parametrize("num_ranks", [3, 65])
@pytest.mark.parametrize("written", [None, "much"])
def test_of_many_files_the_damaged_one_is_named(
    tmp_path: Path, num_ranks: int, written: str | None
) -> None:
    fields = drawn_steps(num_ranks, STEPS)
    paths = write_ranks(tmp_path, fields)
    damaged = paths[num_ranks - 2]
    if written is None:
        damaged.write_bytes(b"no database" * 100)
    else:
        row = [STEPS, 1.0, written, *[1.0] * (len(fields) - 3)]
        for path in paths:
            write_rows(path, [tuple(row) if path == damaged else tuple([1.0] * len(row))])
    columns = StepColumns(paths)

    for ask in (lambda: columns.read(0), lambda: columns.bins(0, STEPS + 1, 4)):
        with pytest.raises(StoreError, match=r"is damaged") as caught:
            ask()
        assert damaged.name in str(caught.value)
        assert str(caught.value).count(".sqlite") == 1


def test_columns_of_charts_are_columns_of_steps_and_the_share_of_devices() -> None:
    assert set(ACROSS) == {*STEP_COLUMNS, *CHART_COLUMNS}
