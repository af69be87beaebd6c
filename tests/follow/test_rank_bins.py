from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.follow.rank_bins import MOST_BINS, RankBins
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

STEPS = 5 * MOST_BINS + 7


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[list[Path], NDArray[np.float64]]:
    """Write the steps of three ranks; return their files and their columns, shape (4, 3, N)."""
    rng = np.random.default_rng(0)
    own_s, wait_s = rng.uniform(0.1, 0.3, (3, STEPS)), rng.uniform(0, 0.1, (3, STEPS))
    exposed_s = rng.uniform(0, 0.02, (3, STEPS))
    step_s = own_s + wait_s + exposed_s
    paths = [tmp_path / f"algo-1-rank{rank}.sqlite" for rank in range(3)]
    for rank, path in enumerate(paths):
        with RecordWriter(path) as writer:
            for step in range(STEPS):
                writer.append(
                    step_record(
                        step=step,
                        step_time_s=step_s[rank, step],
                        data_wait_s=0.01,
                        exposed_comm_s=exposed_s[rank, step],
                        rank_wait_s=wait_s[rank, step],
                    )
                )
    return paths, np.array([step_s, np.full(step_s.shape, 0.01), exposed_s, wait_s])


def test_bins_are_means_of_their_steps(
    recorded: tuple[list[Path], NDArray[np.float64]],
) -> None:
    paths, columns = recorded
    bins = RankBins()

    bins.look(paths, STEPS)

    assert bins.width == 8
    edges = range(0, STEPS, 8)
    expected = np.stack([columns[:, :, at : at + 8].mean(axis=2) for at in edges], axis=2)
    assert bins.means == pytest.approx(expected)


@pytest.mark.parametrize("first", [0, 3, 8, 100, STEPS - 2])
def test_means_over_the_measured_steps_need_no_whole_bins(
    recorded: tuple[list[Path], NDArray[np.float64]], first: int
) -> None:
    paths, columns = recorded
    bins = RankBins()
    bins.look(paths, STEPS)

    assert bins.means_from(first) == pytest.approx(columns[:, :, first:].mean(axis=2))


@pytest.mark.parametrize(
    "looks", [(STEPS - 1,), (1, 2, MOST_BINS, MOST_BINS + 1, 4 * MOST_BINS), (0, 300, 301, 304)]
)
def test_what_is_told_depends_on_the_steps_alone(
    recorded: tuple[list[Path], NDArray[np.float64]], looks: tuple[int, ...]
) -> None:
    paths, _ = recorded
    live, final = RankBins(), RankBins()
    for end in looks:
        live.look(paths, end)
        live.means_from(min(end, 3))
        assert live.means.shape[2] <= MOST_BINS

    for bins in (live, final):
        bins.look(paths, STEPS)

    assert np.array_equal(live.means, final.means)
    assert np.array_equal(live.means_from(3), final.means_from(3))


def test_other_ranks_begin_anew(recorded: tuple[list[Path], NDArray[np.float64]]) -> None:
    paths, _ = recorded
    bins, others = RankBins(), RankBins()
    bins.look(paths[:2], STEPS)

    bins.look(paths[1:], STEPS)
    others.look(paths[1:], STEPS)

    assert np.array_equal(bins.means, others.means)


def test_steps_that_told_no_communication_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "algo-1-rank0.sqlite"
    with RecordWriter(path) as writer:
        for step in range(6):
            writer.append(step_record(step=step, rank_wait_s=0.1 if step == 2 else None))
    bins = RankBins()

    bins.look([path], 6)

    assert bins.means_from(1)[:, 0] == pytest.approx([0.2, 0.1, np.nan, 0.1], nan_ok=True)


def test_a_rank_without_steps_is_not_known(tmp_path: Path) -> None:
    bins = RankBins()

    bins.look([tmp_path / "algo-1-rank0.sqlite"], 4)

    assert np.isnan(bins.means).all()
    assert np.isnan(bins.means_from(1)).all()


def test_a_damaged_file_is_named(recorded: tuple[list[Path], NDArray[np.float64]]) -> None:
    paths, _ = recorded
    paths[1].write_bytes(b"no database" * 100)

    with pytest.raises(StoreError, match=r"algo-1-rank1\.sqlite.* is damaged"):
        RankBins().look(paths, STEPS)
