"""``python tests/follow/test_frames.py`` writes the fixture anew."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from smtc_lab.follow.frames import Frame
from smtc_lab.follow.history import History
from smtc_lab.follow.table import LiveTable
from smtc_lab.store.steps.bins import Bins

MOST_BINS = 8
FIXTURE = Path(__file__).parents[1] / "fixtures" / "frames.json"


def told(frame: Frame) -> dict[str, Any]:
    content, buffers = frame.message()
    return {"content": content, "buffers": [base64.b64encode(b).decode() for b in buffers]}


def bins_told(table: LiveTable) -> dict[str, Any]:
    bins = table._history.before(table.num_rows)
    return {
        "width": bins.width,
        **{
            name: np.where(np.isnan(values), None, values).tolist()
            for name, values in (("low", bins.low), ("high", bins.high), ("mean", bins.mean))
        },
    }


def story() -> dict[str, Any]:
    """What a browser is sent, and the bins of all rows that it then has."""
    table = LiveTable("rows", ["x", "<b>y</b>"], capacity=4)
    table._history = History(2, most_bins=MOST_BINS)
    frames = []
    table.push(0, 1.5)
    table.push(1, float("nan"))
    frames.append(table.cut())
    table.extend([[2, 3, 4, 5], [2.5, -3, float("nan"), 1e300]])
    frames.append(table.cut())
    # so many rows that bins hold four of them, and a browser that comes late
    x = np.arange(6.0, 27.0)
    table.extend([x, np.where((x % 7 == 0) | (x // 4 == 4), np.nan, x / 4)])
    frames.append(table.cut())
    first = {"frames": [told(frame) for frame in frames if frame], "bins": bins_told(table)}
    late = {"frames": [told(table.snapshot())], "bins": bins_told(table)}
    part = Frame(
        type="part",
        table="rows",
        columns=table.columns,
        first=0,
        rows=np.empty((2, 0)),
        bins=Bins(
            first=0,
            width=2,
            low=np.array([[0.0, 2.0], [1.5, -3.0]]),
            high=np.array([[1.0, 3.0], [1.5, 2.5]]),
            mean=np.array([[0.5, 2.5], [1.5, -0.25]]),
        ),
    )
    return {
        "most_bins": MOST_BINS,
        "from_begin": first,
        "late": late,
        "part": told(part),
    }


def test_the_fixture_is_what_python_sends() -> None:
    assert json.loads(FIXTURE.read_text(encoding="utf-8")) == json.loads(json.dumps(story()))


def test_a_frame_is_columns_of_little_endian_floats() -> None:
    frame = Frame(
        type="rows", table="t", columns=["a", "b"], first=7, rows=np.array([[1, 2], [3, 4]])
    )

    content, buffers = frame.message()

    assert content == {"type": "rows", "table": "t", "columns": ["a", "b"], "first": 7}
    assert np.frombuffer(buffers[0], dtype="<f8").tolist() == [1, 2, 3, 4]


def test_bins_follow_the_rows_in_a_buffer_of_their_own() -> None:
    values = np.ones((1, 3))
    bins = Bins(first=0, width=4, low=values, high=2 * values, mean=1.5 * values)
    frame = Frame(
        type="reset", table="t", columns=["a"], first=12, rows=np.empty((1, 0)), bins=bins
    )

    content, buffers = frame.message()

    assert content["bins"] == {"first": 0, "width": 4}
    assert np.frombuffer(buffers[1]).tolist() == [1, 1, 1, 2, 2, 2, 1.5, 1.5, 1.5]


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(story(), indent=1) + "\n", encoding="utf-8")
