"""What was measured, for people: medians over the rounds, and ratios within each."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.rounds import paired
from notebooks.benchmarks.harness.table import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.dataservice.rounds import Row

_COLUMNS = (
    ("gb_per_s", "GB/s"),
    ("batches_per_s", "batches/s"),
    ("client_cpu_s_per_gb", "client CPU-s/GB"),
    ("server_cpu_s_per_gb", "server CPU-s/GB"),
)


def repeats_of(rows: Sequence[Row], peer: str, payload: str, field: str) -> list[float]:
    """Return what each round measured of one peer with one payload."""
    return [row[field] for row in rows if (row["peer"], row["payload"]) == (peer, payload)]


def pairs_of(
    rows: Sequence[Row], peer: str, other: str, payload: str, field: str
) -> list[tuple[float, float]]:
    """Return what each round with two peers measured of both."""
    one, two = (_by_round(rows, name, payload, field) for name in (peer, other))
    return list(paired(one, two).values())


def _by_round(rows: Sequence[Row], peer: str, payload: str, field: str) -> dict[int, float]:
    return {
        row["round"]: row[field]
        for row in rows
        if (row["peer"], row["payload"]) == (peer, payload)
    }


def ratios_of(rows: Sequence[Row], peer: str, other: str, payload: str) -> list[float]:
    """Return how many times as fast as another a peer was, in each round with both."""
    pairs = pairs_of(rows, peer, other, payload, "batches_per_s")
    return [rate / other_rate for rate, other_rate in pairs]


def throughput_table(rows: Sequence[Row]) -> str:
    """Return medians over the rounds as text, with the median ratio to the first peer."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    payloads = list(dict.fromkeys(row["payload"] for row in rows))
    titles = ["payload", "peer", *(title for _, title in _COLUMNS), f"times {peers[0]}"]
    lines = []
    for payload in payloads:
        for peer in peers:
            columns = [repeats_of(rows, peer, payload, key) for key, _ in _COLUMNS]
            columns.append(ratios_of(rows, peer, peers[0], payload))
            cells = [f"{median(values):.3g}" if values else "" for values in columns]
            lines.append([payload, peer, *cells])
    return text_table(titles, lines, names=2)
