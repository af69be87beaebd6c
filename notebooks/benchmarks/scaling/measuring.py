"""Measures how long trainers take to average a bucket, in processes of their own."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from notebooks.benchmarks.harness.together import together


def declared(
    *, ranks: int, num_bytes: float, latency_s: float, bytes_per_s: float, repeats: int
) -> list[float]:
    """Return the seconds of each repeat, the slowest rank's, over a declared network.

    Args:
        ranks: Trainers, on this machine's loopback.
        num_bytes: Size of the bucket.
        latency_s: Declared time of an empty message in seconds.
        bytes_per_s: Declared bandwidth.
        repeats: How often; one more is made first, and left out.
    """
    told = {
        "ranks": ranks,
        "num_bytes": num_bytes,
        "latency_s": latency_s,
        "bytes_per_s": bytes_per_s,
        "repeats": repeats + 1,
    }
    with tempfile.TemporaryDirectory() as folder:
        common = {**told, "store": str(Path(folder) / "store")}
        commands = [
            [sys.executable, "-m", "notebooks.benchmarks.scaling.node", json.dumps(one)]
            for one in ({**common, "rank": rank} for rank in range(ranks))
        ]
        by_rank = together(commands, answering=ranks)
    return [max(times) for times in zip(*by_rank, strict=True)][1:]
