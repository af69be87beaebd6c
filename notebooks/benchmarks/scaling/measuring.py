"""Measures how long trainers take to average a bucket, in processes and nodes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.scaling.namespaces import nodes
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[3]
_LIMIT_S = 240.0


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
        enter = [("ip", "netns", "exec", name) for name, _ in made]
        return _measured(told, enter, [address for _, address in made])


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
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        common = {**told, "secret": secret, "store": str(Path(folder) / "store")}
        started = []
        for number, (before, address) in enumerate(zip(enter, addresses, strict=True)):
            role = "trainer" if number < ranks else "reducer"
            one = {**common, "role": role, "rank": number, "address": address}
            process = subprocess.Popen(  # noqa: S603  our own module
                [
                    *before,
                    sys.executable,
                    "-m",
                    "notebooks.benchmarks.scaling.node",
                    json.dumps(one),
                ],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1"},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        outputs = [process.communicate(timeout=_LIMIT_S)[0] for process in started[:ranks]]
    try:
        by_rank = [json.loads(output.splitlines()[-1]) for output in outputs]
    except (IndexError, ValueError) as error:
        raise RunFailedError(
            f"A trainer of the measurement ended without a number ({error}). Look at what it "
            "printed above."
        ) from error
    return [max(times) for times in zip(*by_rank, strict=True)][1:]
