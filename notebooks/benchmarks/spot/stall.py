"""For how long one save holds a training up: ours beside torch's own, in turns.

``python -m notebooks.benchmarks.spot.stall <MB> <rounds>`` prints one JSON list of rows.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict_saver import async_save

import smtc_lab

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.runtime.resuming.training import KeptTraining

_TENSORS = 16
_STEPS = 3  # between two saves, so that each finds another model


def main(mb: int, rounds: int) -> list[dict[str, Any]]:
    """Return rows of each way to save a model, in turns.

    A save is awaited before the next way begins, beyond the stall: nothing is written beside.

    Args:
        mb: Bytes of the model, in millions.
        rounds: How often each way saves; the first, which makes buffers, is left out.
    """
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    rows = []
    with TemporaryDirectory() as folder:
        os.environ["SAGEMAKER_BASE_DIR"] = folder
        model = _model(mb)
        kept = smtc_lab.Session().checkpoint(model=model, every_steps=10**9, keep_last=1)
        store = dist.FileStore(str(Path(folder, "store")), 1)  # type: ignore[attr-defined]  # torch does not say so
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        place = Path(folder) / "other"
        ways: dict[str, Callable[[], Callable[[], Any]]] = {
            "session.checkpoint": lambda: _ours(kept),
            "torch.save and fsync": lambda: _plain(model, place),
            "DCP async_save": lambda: _async(model, place),
        }
        for number in range(rounds + 1):
            for way, begin in ways.items() if number % 2 else reversed(ways.items()):
                _train(model)
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                began_s = time.perf_counter()
                finish = begin()
                stall_s = time.perf_counter() - began_s
                finish()
                written_s = time.perf_counter() - began_s
                if number:
                    rows.append(
                        {
                            "what": "stall",
                            "way": way,
                            "mb": mb,
                            "round": number - 1,
                            "seconds": stall_s,
                            "written_s": written_s,
                        }
                    )
        dist.destroy_process_group()
    return rows


def _model(mb: int) -> nn.Module:
    width = mb * 10**6 // 4 // _TENSORS
    return nn.ParameterList(nn.Parameter(torch.randn(width)) for _ in range(_TENSORS))


def _train(model: nn.Module) -> None:
    with torch.no_grad():
        for _ in range(_STEPS):
            for parameter in model.parameters():
                parameter.mul_(0.999)


def _ours(kept: KeptTraining) -> Callable[[], Any]:
    kept.step += 1  # as a step of the loop does
    kept.save()
    return kept.close


def _plain(model: nn.Module, place: Path) -> Callable[[], Any]:
    with (place / "model.pt").open("wb") as file:
        torch.save(model.state_dict(), file)
        file.flush()
        os.fsync(file.fileno())
    return lambda: None


def _async(model: nn.Module, place: Path) -> Callable[[], Any]:
    saving: Any = async_save(model.state_dict(), checkpoint_id=str(place / "dcp"))
    return saving.result  # type: ignore[no-any-return]  # a future's


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*map(int, sys.argv[1:3]))) + "\n")
