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

LEAVE = """
sys.stdout.flush()
os._exit(0)  # as the runtime does: gloo's threads may abort an interpreter that goes down
"""


def start_ranks(  # noqa: PLR0913  options by name
    body: str,
    *,
    data: int = 1,
    shard: int = 1,
    folder: Path,
    before: str = "",
    limit_s: float = 110,
) -> list[Any]:
    """Return what the ranks of a layout printed, from JSON; a failed rank's last line."""
    world_size = data * shard
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = folder / "ranks.py"
    script.write_text(before + PRELUDE + textwrap.dedent(body) + LEAVE, encoding="utf-8")
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
    logs = [folder / f"rank{rank}.log" for rank in range(world_size)]
    ranks = []
    for rank, log in enumerate(logs):
        with log.open("wb") as file:
            process = subprocess.Popen(
                [os.environ.get("SMTC_TEST_PYTHON", sys.executable), script],
                env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                cwd=folder,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        ranks.append(process)
    try:
        codes = [rank.wait(timeout=limit_s) for rank in ranks]
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    return [_said(log, code) for log, code in zip(logs, codes, strict=True)]


def _said(log: Path, code: int) -> Any:
    """Return the last JSON that a rank printed; of a failed one, its error."""
    lines = log.read_text(encoding="utf-8").splitlines()
    if code:
        error = next(line for line in reversed(lines) if "Error: " in line)
        return error.partition("]: ")[2] if error.startswith("[rank") else error
    return json.loads(next(line for line in reversed(lines) if line[:1] in "[{"))


@pytest.fixture
def run_ranks(tmp_path: Path) -> Callable[..., list[Any]]:
    """Return a function that runs a body on the ranks of a layout; see ``start_ranks``."""

    def run(body: str, **layout: Any) -> list[Any]:
        return start_ranks(body, folder=tmp_path, **layout)

    return run
