"""Processes whose data the kernel limits as an emulated device would: which of them train?"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from tests.parallel.memory.models import FREED_GOES_BACK, MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
_STEPS = 2
_ADDED = 2
"""Batches that are added up at most: a third takes no more memory than the second."""

_TRAINED, _NO_MEMORY, _WRONG = 0, 3, 4


@dataclass(frozen=True)
class Limited:
    """A training, and what its model may have in memory."""

    name: str
    """Of one of ``MODELS``."""

    batch_size: int
    accumulations: int
    limit_bytes: float


def which_train(cases: Sequence[Limited]) -> list[bool]:
    """Return of each training whether it went through, else it ran out of memory."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.parallel.memory.limited"],
        input=json.dumps([asdict(one) for one in cases]),
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "1",
            **FREED_GOES_BACK,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    codes: list[int] = json.loads(ended.stdout.splitlines()[-1])
    assert {*codes} <= {_TRAINED, _NO_MEMORY}, (codes, ended.stderr[-2000:])
    return [code == _TRAINED for code in codes]


def _run(cases: list[dict[str, Any]]) -> list[int]:
    """Run each case in a process of its own, forked from this one, which has torch already."""
    codes = []
    for case in cases:
        child = os.fork()
        if child == 0:
            os._exit(_code(Limited(**case)))
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return codes


def _code(case: Limited) -> int:
    try:
        _train(case)
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            return _NO_MEMORY
        traceback.print_exc()
        return _WRONG
    return _TRAINED


def _train(case: Limited) -> None:
    torch.set_num_threads(1)
    make, batch, loss_of = MODELS[case.name]
    _warm_up()
    inputs, targets = (one[: case.batch_size].clone() for one in batch())
    limit = int(_data_bytes() - inputs.nbytes - targets.nbytes + case.limit_bytes)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    model: Any = make()
    optimizer = _optimizer(model)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        for _ in range(min(case.accumulations, _ADDED)):
            output = model(inputs)  # scripts have a name for it, which keeps it
            (loss_of(output, targets) / case.accumulations).backward()
        optimizer.step()


def _warm_up() -> None:
    """Let torch load what a first step loads, which is not the model's."""
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.Flatten())
    optimizer = _optimizer(model)
    model(torch.ones(2, 1, 2, 2)).sum().backward()
    optimizer.step()


def _optimizer(model: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), foreach=True)  # as on an accelerator


def _data_bytes() -> int:
    text = Path("/proc/self/status").read_text("utf-8")
    return 1024 * int(text.partition("VmData:")[2].split()[0])


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(_run(json.load(sys.stdin)))}\n")
