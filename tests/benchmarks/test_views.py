from __future__ import annotations

from notebooks.benchmarks.views.figures import Measured, peer_figures
from notebooks.benchmarks.views.page import Smoothness
from notebooks.benchmarks.views.scenario import Seen


def seen(library: str, number: int, frames_per_s: float) -> Measured:
    page = Smoothness(
        frames_per_s=frames_per_s, longest_frame_s=0.1, long_tasks=0, latency_s=[0.01]
    )
    kernel = {"updates_per_s": 30.0}
    return Measured(
        what="30 updates/s",
        library=library,
        round=number,
        seen=Seen(page=page, kernel=kernel, rows=None),
    )


def test_a_chart_is_compared_with_another_library_in_the_rounds_that_have_both() -> None:
    rows = [seen("smtc_lab", 0, 60.0), seen("smtc_lab", 1, 30.0), seen("plotly", 1, 10.0)]

    (ratio,) = [figure for figure in peer_figures(rows) if figure.peer == "plotly"]

    assert (ratio.name, ratio.value) == ("smtc_lab, 30 updates/s: frames", 3.0)
