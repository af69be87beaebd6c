"""Trainers in processes of their own, joined by gloo on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(__file__).parents[3]
_JOIN = """
import os, sys, json, time
from datetime import timedelta
import torch, torch.distributed as dist
torch.set_num_threads(1)
rank, n, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", store=dist.FileStore(path, n), rank=rank, world_size=n,
                        timeout=timedelta(seconds=60))
"""


@pytest.fixture
def run_ranks(tmp_path: Path) -> Callable[[str, int], list[str]]:
    """Return what runs a program on so many ranks and returns what each printed."""

    def run(program: str, ranks: int) -> list[str]:
        script = tmp_path / "ranks.py"
        script.write_text(_JOIN + program + "\ndist.destroy_process_group()\n")
        store = Path(tempfile.mkdtemp(dir=tmp_path)) / "store"
        environment = {
            **os.environ,
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(_ROOT),
        }
        processes = [
            subprocess.Popen(
                [sys.executable, str(script), str(rank), str(ranks), str(store)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
            for rank in range(ranks)
        ]
        outputs = [process.communicate(timeout=120) for process in processes]
        for process, (_, errors) in zip(processes, outputs, strict=True):
            assert process.returncode == 0, errors
        return [output for output, _ in outputs]

    return run
