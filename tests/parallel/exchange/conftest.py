"""Trainers in processes of their own, joined by gloo on loopback."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.kit.warm_ranks import run_script_on_ranks

if TYPE_CHECKING:
    from collections.abc import Callable

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
        logs = [tmp_path / f"rank{rank}.log" for rank in range(ranks)]
        for log in logs:
            log.unlink(missing_ok=True)
        codes = run_script_on_ranks(
            script,
            logs,
            arguments=[[str(rank), str(ranks), str(store)] for rank in range(ranks)],
            limit_s=120,
        )
        outputs = [log.read_text(encoding="utf-8") for log in logs]
        assert not any(codes), outputs
        return outputs

    return run
