from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import traitlets

from smtc_lab.views.widgets.live_chart import LiveChart


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], list[bytes]]]:
    messages: list[tuple[dict[str, Any], list[bytes]]] = []
    monkeypatch.setattr(LiveChart, "send", lambda _self, *message: messages.append(message))
    return messages


def test_each_series_has_its_label_and_where_it_comes_from() -> None:
    chart = LiveChart(["a", "<b>"], title="t", y_unit="s", evidence="emulated")

    assert chart.series == [
        {"label": "a", "evidence": "emulated"},
        {"label": "<b>", "evidence": "emulated"},
    ]
    assert (chart.title, chart.y_unit, chart.x_unit) == ("t", "s", "number")


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(traitlets.TraitError, match="y_unit"):
        LiveChart(["a"], y_unit="hours")


def test_rows_come_to_a_browser_that_asks(
    told: list[tuple[dict[str, Any], list[bytes]]],
) -> None:
    chart = LiveChart(["a", "b"])
    chart.push(0, 1, 2)
    chart.extend([1, 2], [3, 4], [5, 6])
    chart._on_message(chart, {"type": "resync"}, [])

    content, buffers = told[-1]
    assert content["columns"] == ["x", "y0", "y1"]
    assert np.frombuffer(buffers[0]).reshape(3, 3).tolist() == [
        [0, 1, 2],
        [1, 3, 4],
        [2, 5, 6],
    ]
    assert chart.num_rows == 3


@pytest.mark.parametrize("content", [None, "resync", 5, ["resync"], {"type": 1}])
def test_what_it_does_not_understand_it_ignores(content: Any) -> None:
    LiveChart(["a"])._on_message(None, content, [])


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="got 3 columns, but has 2: x, y0"):
        LiveChart(["a"]).push(0, 1, 2)
