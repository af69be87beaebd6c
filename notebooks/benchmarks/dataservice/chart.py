"""The peers' throughput as a figure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from notebooks.benchmarks.dataservice.table import repeats_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.dataservice.rounds import Row


def throughput_chart(rows: Sequence[Row]) -> Figure:
    """Return a panel for each payload: GB/s of each peer, the median and every round."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))[::-1]
    payloads = list(dict.fromkeys(row["payload"] for row in rows))
    figure = Figure(figsize=(4 * len(payloads), 0.4 * len(peers) + 1), layout="constrained")
    panels = figure.subplots(1, len(payloads), sharey=True, squeeze=False)[0]
    for axes, payload in zip(panels, payloads, strict=True):
        for height, peer in enumerate(peers):
            values = repeats_of(rows, peer, payload, "gb_per_s")
            shown = median(values) if values else 0.0
            axes.barh(height, shown, color="C1" if peer.startswith("ours") else "C0")
            axes.plot(values, [height] * len(values), "k|")
        axes.set_yticks(range(len(peers)), peers)
        axes.set_xlabel(f"payload {payload}, GB/s")
    return figure
