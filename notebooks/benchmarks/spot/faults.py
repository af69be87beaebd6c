"""Faults while a training saves: none of them may leave a checkpoint lost or half.

``python -m notebooks.benchmarks.spot.faults <faults> <seed>`` prints one JSON list of rows.
Each fault strikes a process of its own, forked from one that has imported torch. Its model
holds the number of its step in each of its values, so that what a next process finds is known.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from smtc_lab.runtime.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS = ("kill -9 in a save", "full disk", "flipped bit", "half a file")
_VALUES = 2_000_000
_LEAST_BYTES = 1_000_000
_STEPS = 4
_SAVE_S = 0.2
"""A save takes less: kills strike its file, its mark, and what is removed after it."""


def main(faults: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each fault: what the next process had to find, and what it found.

    Args:
        faults: How many, of all kinds in turns.
        seed: Of moments, and of what is damaged.
    """
    torch.set_num_threads(1)
    drawn = random.Random(seed)  # noqa: S311  no secret
    for number in range(faults):
        kind = KINDS[number % len(KINDS)]
        with TemporaryDirectory() as folder:
            least = _struck(Path(folder), kind, drawn)
            found = _in_process(Path(folder), _look)
            yield {
                "what": "fault",
                "kind": kind,
                "number": number,
                "least": least,
                "found": found.get("step", -1),
                "is_whole": found.get("is_whole", False),
            }


def _struck(folder: Path, kind: str, drawn: random.Random) -> int:
    """Train with a fault; return the step that a next process must have at least."""
    if kind == "kill -9 in a save":
        told = _in_process(folder, _train_on, kill_after=lambda: _SAVE_S * drawn.random())
        return int(told.get("kept", 0))
    if kind == "full disk":
        told = _in_process(folder, _train_on_a_full_disk)
        return int(told.get("kept", _STEPS - 1))
    _in_process(folder, _train)
    data = max((folder / "checkpoints" / "resume" / "rank0").glob("*.pt"))
    content = bytearray(data.read_bytes())
    if kind == "half a file":
        del content[drawn.randrange(1, len(content)) :]
    else:
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
    data.write_bytes(content)
    return _STEPS - 1


def _in_process(
    folder: Path,
    act: Callable[[int], None],
    *,
    kill_after: Callable[[], float] | None = None,
) -> dict[str, Any]:
    """Act in a forked process; return the last that it told, empty: nothing.

    Args:
        folder: That of its job.
        act: Called with a descriptor to which it tells.
        kill_after: Returns after how many seconds it is killed, once it has said that it is
            about to save for good.
    """
    reads, writes = os.pipe()
    process = os.fork()
    if not process:
        status = 1
        try:
            os.close(reads)
            os.environ["SAGEMAKER_BASE_DIR"] = str(folder)
            act(writes)
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    told: dict[str, Any] = {}
    with os.fdopen(reads, encoding="utf-8") as lines:
        for line in lines:
            told |= json.loads(line)
            if told.get("saves") and kill_after is not None:
                time.sleep(kill_after())
                os.kill(process, signal.SIGKILL)
                kill_after = None
    os.waitpid(process, 0)
    return told


def _tell(descriptor: int, **told: Any) -> None:  # noqa: ANN401  JSON
    os.write(descriptor, f"{json.dumps(told)}\n".encode())


def _model() -> nn.Module:
    return nn.ParameterList([nn.Parameter(torch.zeros(_VALUES))])


def _steps(model: nn.Module, *, steps: int) -> Iterator[tuple[int, Any]]:
    """Yield the number of each step that was kept, and what keeps it."""
    kept = Session().checkpoint(model=model, every_steps=10**9, keep_last=3)
    for _ in range(steps):
        kept.step += 1
        with torch.no_grad():
            next(model.parameters()).fill_(kept.step)
        yield kept.step, kept


def _train(_: int) -> None:
    for _, kept in _steps(_model(), steps=_STEPS):
        kept.save()
        kept.close()


def _train_on(told: int) -> None:
    """Save again and again; say after each what is kept, and before the third that it saves."""
    for step, kept in _steps(_model(), steps=10**6):
        if step == _STEPS:
            _tell(told, saves=True)
        kept.save()
        kept.close()
        _tell(told, kept=step)


def _train_on_a_full_disk(told: int) -> None:
    """Save until nothing more can be written, and go on a while."""
    for step, kept in _steps(_model(), steps=2 * _STEPS):
        if step == _STEPS:
            _tell(told, kept=step - 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (_LEAST_BYTES, _LEAST_BYTES))
        kept.save()
        kept.close()


def _look(told: int) -> None:
    model = _model()
    kept = Session().checkpoint(model=model)
    values = next(model.parameters())
    _tell(told, step=kept.step, is_whole=bool((values == kept.step).all()))


if __name__ == "__main__":
    rows = list(main(*map(int, sys.argv[1:3])))
    sys.stdout.write(json.dumps(rows) + "\n")
