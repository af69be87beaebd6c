"""Measures how long trainers take to average a bucket, in processes and nodes of their own."""

from __future__ import annotations

import json
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.together import together
from notebooks.benchmarks.scaling.namespaces import entered, nodes

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_nodes(  # noqa: PLR0913  what is measured has these sizes
    how: str, *, ranks: int, reducers: int, num_bytes: float, mbit_per_s: float, repeats: int
) -> list[float]:
    """Return the seconds of each repeat, the slowest rank's, on nodes with cards of a rate.

    Args:
        how: ``ring`` (gloo's) or ``reducers``.
        ranks: Trainers.
        reducers: Nodes that reduce.
        num_bytes: Size of the bucket.
        mbit_per_s: Rate of each node's card, each way.
        repeats: How often; one more is made first, and left out.
    """
    with nodes(ranks + reducers, mbit_per_s=mbit_per_s) as made:
        order = [*made[ranks:], *made[:ranks]]
        told = {
            "how": how,
            "ranks": ranks,
            "reducers": reducers,
            "num_bytes": num_bytes,
            "repeats": repeats + 1,
            "interface": "eth0",
            "servers": [address for _, address in order],
        }
        return _measured(told, entered(made), [address for _, address in made])


def declared(
    *, ranks: int, num_bytes: float, latency_s: float, bytes_per_s: float, repeats: int
) -> list[float]:
    """Return the seconds of each repeat over a declared network on this machine's loopback."""
    told = {
        "how": "declared",
        "ranks": ranks,
        "reducers": 0,
        "num_bytes": num_bytes,
        "latency_s": latency_s,
        "bytes_per_s": bytes_per_s,
        "repeats": repeats + 1,
        "interface": "lo",
        "servers": [],
    }
    return _measured(told, [()] * ranks, ["127.0.0.1"] * ranks)


def _measured(
    told: dict[str, Any], enter: Sequence[Sequence[str]], addresses: Sequence[str]
) -> list[float]:
    secret = secrets.token_bytes(32).hex()
    ranks = told["ranks"]
    with tempfile.TemporaryDirectory() as folder:
        common = {**told, "secret": secret, "store": str(Path(folder) / "store")}
        commands = []
        for number, (before, address) in enumerate(zip(enter, addresses, strict=True)):
            role = "trainer" if number < ranks else "reducer"
            one = {**common, "role": role, "rank": number, "address": address}
            node = [sys.executable, "-m", "notebooks.benchmarks.scaling.node", json.dumps(one)]
            commands.append([*before, *node])
        by_rank = together(commands, answering=ranks)
    return [max(times) for times in zip(*by_rank, strict=True)][1:]
