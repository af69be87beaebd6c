from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.store.parity_traces import read_parity_trace

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, **changed: Any) -> Path:
    arrays = {
        "losses": np.array([2.0, 1.0]),
        "names": np.array(["layer.weight"], dtype=np.str_),
        "norms": np.array([[3.0], [4.0]]),
        "weight:layer.weight": np.ones((2, 3), dtype=np.float32),
        **changed,
    }
    path = folder / "parity-rank0.npz"
    np.savez(path, **{name: values for name, values in arrays.items() if values is not None})
    return path


def test_a_trace_comes_back_as_it_was_written(tmp_path: Path) -> None:
    trace = read_parity_trace(written(tmp_path))

    assert trace.losses.tolist() == [2.0, 1.0]
    assert trace.names == ("layer.weight",)
    assert trace.norms.tolist() == [[3.0], [4.0]]
    assert trace.weights["layer.weight"].shape == (2, 3)


def test_a_missing_file_names_its_path(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere.npz' cannot be read .*check parity again"):
        read_parity_trace(tmp_path / "nowhere.npz")


@pytest.mark.parametrize("length", [0, 10, 200, 500])
def test_a_cut_file_is_told(tmp_path: Path, length: int) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:length])

    with pytest.raises(StoreError, match="cannot be read"):
        read_parity_trace(path)


def test_a_pickled_object_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path, losses=np.array([object()], dtype=object))

    with pytest.raises(StoreError, match="cannot be read"):
        read_parity_trace(path)


def test_arrays_that_do_not_belong_together_are_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"norms of shape \(1, 1\), but 2 losses and 1 param"):
        read_parity_trace(written(tmp_path, norms=np.array([[3.0]])))
    with pytest.raises(StoreError, match="cannot be read"):
        read_parity_trace(written(tmp_path, norms=None))
