"""A live chart of numbers that a cell, or a thread, pushes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import traitlets

from smtc_lab.follow.stream import Stream
from smtc_lab.follow.table import CAPACITY, LiveTable
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Unit = Literal["s", "USD", "fraction", "bytes", "bytes/s", "ratio", "count", "number"]
"""What numbers are: seconds, dollars, 0 to 1, bytes, bytes a second, times, whole, any."""

Evidence = Literal["measured", "emulated", "predicted"]
"""Where numbers come from."""

_UNITS: list[str] = list(get_args(Unit))


class LiveChart(View):
    """A chart of series over a common x, which never decreases.

    Rows may be pushed as fast as they come, from any thread: they are sent in at most 30
    frames a second, and none is lost, also when the page is reloaded meanwhile.

    Args:
        labels: One for each series.
        title: Above the chart.
        x_label: Of the x axis.
        y_label: Of the y axis.
        x_unit: What x is.
        y_unit: What the series are.
        evidence: Where the numbers of the series come from.
        capacity: Rows that are kept as they are; older ones in bins with their extremes.
    """

    view: ClassVar[str] = "live-chart"

    title = traitlets.Unicode().tag(sync=True)
    x_label = traitlets.Unicode().tag(sync=True)
    y_label = traitlets.Unicode().tag(sync=True)
    x_unit = traitlets.Enum(_UNITS, "number").tag(sync=True)
    y_unit = traitlets.Enum(_UNITS, "number").tag(sync=True)
    series = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(  # noqa: PLR0913  keyword-only options, each of its own
        self,
        labels: Sequence[str],
        *,
        title: str = "",
        x_label: str = "step",
        y_label: str = "",
        x_unit: Unit = "number",
        y_unit: Unit = "number",
        evidence: Evidence = "measured",
        capacity: int = CAPACITY,
    ) -> None:
        series = [{"label": label, "evidence": evidence} for label in labels]
        columns = ["x", *(f"y{place}" for place in range(len(series)))]
        self._stream = Stream(self.send)
        self._rows = self._stream.add(LiveTable("rows", columns, capacity=capacity))
        super().__init__(
            title=title,
            x_label=x_label,
            y_label=y_label,
            x_unit=x_unit,
            y_unit=y_unit,
            series=series,
        )
        self.on_msg(self._on_message)

    @property
    def num_rows(self) -> int:
        """Rows that were pushed so far."""
        return self._rows.num_rows

    def push(self, x: float, *values: float) -> None:
        """Add one row: x, and one value for each series; NaN where it is unknown.

        Raises:
            ValueError: There are not as many values as series.
        """
        self._rows.push(x, *values)
        self._stream.notify()

    def extend(
        self, x: Sequence[float], *values: Sequence[float] | NDArray[np.float64]
    ) -> None:
        """Add many rows: x, and one column for each series, all of one length.

        Raises:
            ValueError: There are not as many columns as series, or they differ in length.
        """
        self._rows.extend([x, *values])
        self._stream.notify()

    def close(self) -> None:
        """Send what is left, and take the chart away."""
        self._stream.close()
        super().close()

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if isinstance(content, dict):
            self._stream.answer(content)
