"""What was measured, for people: medians over the rounds, and ratios within each."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.dataservice.fresh import Row

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
    one, two = (
        {
            row["round"]: row[field]
            for row in rows
            if (row["peer"], row["payload"]) == (name, payload)
        }
        for name in (peer, other)
    )
    return [(value, two[number]) for number, value in one.items() if number in two]


def ratios_of(rows: Sequence[Row], peer: str, other: str, payload: str) -> list[float]:
    """Return how many times as fast as another a peer was, in each round with both."""
    pairs = pairs_of(rows, peer, other, payload, "batches_per_s")
    return [rate / other_rate for rate, other_rate in pairs]


def throughput_table(rows: Sequence[Row]) -> str:
    """Return medians over the rounds as text, with the median ratio to the first peer."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    payloads = list(dict.fromkeys(row["payload"] for row in rows))
    titles = [title for _, title in _COLUMNS]
    lines = [_line("payload", "peer", [*titles, f"times {peers[0]}"])]
    for payload in payloads:
        for peer in peers:
            columns = [repeats_of(rows, peer, payload, key) for key, _ in _COLUMNS]
            columns.append(ratios_of(rows, peer, peers[0], payload))
            cells = [f"{median(values):.3g}" if values else "" for values in columns]
            lines.append(_line(payload, peer, cells))
    return "\n".join(lines)


def _line(payload: str, peer: str, cells: Sequence[str]) -> str:
    return f"{payload:<9}{peer:<16}" + "".join(f"{cell:>17}" for cell in cells)
