"""The figures of ``notebooks/bench_dataservice.ipynb``, with their goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.dataservice.siege import NUM_STRANGERS
from notebooks.benchmarks.dataservice.table import pairs_of, ratios_of, repeats_of
from notebooks.benchmarks.harness.figure import bench_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.dataservice.rounds import Row
    from notebooks.benchmarks.harness.figure import BenchFigure

_RATIOS: dict[tuple[str, str], dict[str, float]] = {
    ("ours_tcp", "raw"): {"a": 0.6, "b": 0.85, "c": 0.85},
    ("ours_tls", "raw_tls"): {"b": 0.85, "c": 0.85},
    ("ours_tcp", "torch"): {"a": 10.0, "b": 1.5, "c": 1.2},
    ("ours_local", "torch"): {"b": 2.5},
    ("ours_tcp", "aws"): {"b": 20.0, "c": 20.0},
    ("ours_tcp", "tf_data"): {"b": 6.0, "c": 6.0},
    ("ours_tcp", "grpc"): {"b": 5.0, "c": 5.0},
    ("ours_tcp", "ray"): {"b": 4.0, "c": 4.0},
    ("ours_tcp", "flight"): {"b": 2.5, "c": 2.5},
}
_CLIENT_CPU_S_PER_GB = 0.12
_TINY_PER_S = 10_000.0
_LOSS_PERCENT = 10.0
_INTERFERENCE_PERCENT = 5.0
_SIEGE_PERCENT = 10.0


def throughput_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how we compare with each peer that was measured, and what the client takes."""
    for (ours, peer), goals in _RATIOS.items():
        for payload, goal in goals.items():
            ratios = ratios_of(rows, ours, peer, payload)
            if ratios:
                yield bench_figure(
                    f"throughput of {ours}, payload {payload}",
                    ratios,
                    unit="ratio",
                    better="higher",
                    goal=goal,
                    peer=peer,
                )
    clients: dict[str, float | None] = {"ours_tcp": _CLIENT_CPU_S_PER_GB, "raw": None}
    for name, cpu_goal in clients.items():
        for payload in dict.fromkeys(row["payload"] for row in rows):
            values = repeats_of(rows, name, payload, "client_cpu_s_per_gb")
            if values and payload != "tiny":
                yield bench_figure(
                    f"client CPU of {name}, payload {payload}",
                    values,
                    unit="CPU-s/GB",
                    better="lower",
                    goal=cpu_goal,
                )


def scale_figures(
    rows: Sequence[Row], *, servers: Sequence[int], payload: str
) -> Iterator[BenchFigure]:
    """Yield what more servers cost, in throughput and in memory.

    Args:
        rows: Throughput of ``ours_N_servers``.
        servers: The numbers N, from 1.
        payload: Name of the payload.
    """
    for number in servers[1:]:
        peer = f"ours_{number}_servers"
        ratios = ratios_of(rows, peer, "ours_1_servers", payload)
        yield bench_figure(
            f"loss with {number} servers",
            [(1 - ratio) * 100 for ratio in ratios],
            unit="%",
            better="lower",
            goal=_LOSS_PERCENT,
            peer="1 server",
        )
        resident = pairs_of(rows, peer, "ours_1_servers", payload, "client_resident_bytes")
        yield bench_figure(
            f"memory of the trainer for each server, of {number}",
            [(many - few) / (number - 1) / 1e6 for many, few in resident],
            unit="MB",
            better="lower",
        )


def tiny_figure(rows: Sequence[Row]) -> BenchFigure:
    """Return how many tiny batches come for each second."""
    return bench_figure(
        "tiny batches from two data workers",
        repeats_of(rows, "ours_tcp", "tiny", "batches_per_s"),
        unit="1/s",
        better="higher",
        goal=_TINY_PER_S,
    )


def interference_figure(rows: Sequence[Row], *, payload: str) -> BenchFigure:
    """Return what a computing trainer loses beyond what the received bytes must cost.

    Bare sockets at the same rate show what the bytes cost. A round in which they cost more
    counts as 0: that is no gain of ours, but the noise of two measurements.
    """
    losses = pairs_of(rows, "ours_tcp", "raw", payload, "loss_percent")
    return bench_figure(
        f"trainer's loss while batches arrive, payload {payload} (0: none seen)",
        [max(0.0, ours - bytes_only) for ours, bytes_only in losses],
        unit="percentage points",
        better="lower",
        goal=_INTERFERENCE_PERCENT,
        peer="raw",
    )


def siege_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield by how much each way of siege raises the step time; 0 where it did not rise."""
    for strangers in dict.fromkeys(row["strangers"] for row in rows):
        yield bench_figure(
            f"step time's rise with {NUM_STRANGERS} {strangers} strangers (0: none seen)",
            [max(0.0, row["rise_percent"]) for row in rows if row["strangers"] == strangers],
            unit="%",
            better="lower",
            goal=_SIEGE_PERCENT,
            peer="no strangers",
        )
