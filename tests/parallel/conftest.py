"""Real trainers: processes with torchrun's variables, on gloo."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(__file__).parents[2]

PRELUDE = """
import json, os, sys, torch
from torch import nn
import smtc_lab
from tests.parallel.small_model import SmallModel, batches, loss_of

torch.manual_seed(0)
session = smtc_lab.Session()
"""


def start_ranks(
    body: str, *, data: int = 1, shard: int = 1, folder: Path, before: str = ""
) -> list[Any]:
    """Return what the ranks of a layout printed, from JSON; a failed rank's last line."""
    world_size = data * shard
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = folder / "ranks.py"
    script.write_text(before + PRELUDE + textwrap.dedent(body), encoding="utf-8")
    shared = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": str(world_size),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(_ROOT),
        "SAGEMAKER_BASE_DIR": str(folder),
    }
    if world_size > 1:
        shared["SMTC_DISTRIBUTION"] = json.dumps({"data": data, "shard": shard})
    ranks = [
        subprocess.Popen(
            [os.environ.get("SMTC_TEST_PYTHON", sys.executable), script],
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world_size)
    ]
    try:
        ended = [rank.communicate(timeout=100) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    return [
        json.loads(out.splitlines()[-1])
        if not rank.returncode
        else f"{err.strip().splitlines()[-1]}"
        for rank, (out, err) in zip(ranks, ended, strict=True)
    ]


@pytest.fixture
def run_ranks(tmp_path: Path) -> Callable[..., list[Any]]:
    """Return a function that runs a body on the ranks of a layout; see ``start_ranks``."""

    def run(body: str, **layout: Any) -> list[Any]:
        return start_ranks(body, folder=tmp_path, **layout)

    return run
