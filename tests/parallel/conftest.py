"""Real trainers: processes with torchrun's variables, on gloo."""

from __future__ import annotations

import json
import socket
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from tests.kit.warm_ranks import run_script_on_ranks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRELUDE = """
import json, os, sys, torch
from torch import nn
import smtc_lab
from tests.parallel.small_model import SmallModel, batches, loss_of

torch.manual_seed(0)
session = smtc_lab.Session()
"""


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_ranks(  # noqa: PLR0913  options by name
    body: str,
    *,
    data: int = 1,
    shard: int = 1,
    pipeline: int = 1,
    tensor: int = 1,
    microbatches: int = 1,
    activation_checkpointing: bool = False,
    activation_offload: bool = False,
    limit_bytes: float | None = None,
    folder: Path,
    before: str = "",
    prelude: str = PRELUDE,
    limit_s: float = 110,
) -> list[Any]:
    """Return what the ranks of a layout printed, from JSON; a failed rank's last line."""
    world_size = data * shard * pipeline * tensor
    script = folder / "ranks.py"
    script.write_text(before + prelude + textwrap.dedent(body), encoding="utf-8")
    shared = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": str(world_size),
        "SAGEMAKER_BASE_DIR": str(folder),
    }
    if world_size > 1:
        shared["SMTC_DISTRIBUTION"] = json.dumps(
            {"data": data, "shard": shard}
            | ({"pipeline": pipeline, "microbatches": microbatches} if pipeline > 1 else {})
            | ({"tensor": tensor} if tensor > 1 else {})
            | ({"activation_checkpointing": True} if activation_checkpointing else {})
            | ({"activation_offload": True} if activation_offload else {})
            | ({} if limit_bytes is None else {"limit_bytes": limit_bytes})
        )
    logs = [folder / f"rank{rank}.log" for rank in range(world_size)]
    codes = run_script_on_ranks(
        script,
        logs,
        variables=[
            {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(world_size)
        ],
        limit_s=limit_s,
    )
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
