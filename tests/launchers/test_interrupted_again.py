"""An attempt that is interrupted before it trains, and instances that never come back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.spec.spot import Market
from tests.kit.runs import processes_after, wait_until
from tests.launchers.test_attempts import (
    HERE,
    TRAINING,
    await_steps,
    check_whole,
    unbroken,
    weights_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

__all__ = ["unbroken"]

LOADS_SLOWLY = """
import os
from pathlib import Path
from threading import Event
import torch

load, folder = torch.load, Path(os.environ["SM_CHECKPOINT_DIR"])

def load_slowly(file, **options):
    with open(file, "rb") as half:
        half.read(64)
        if not (folder / "was-loading").exists():
            (folder / "was-loading").touch()
            Event().wait(60)
    return load(file, **options)

torch.load = load_slowly
"""


@pytest.mark.timeout(180)
def test_a_kill_while_a_checkpoint_is_loaded_costs_no_step(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], unbroken: str
) -> None:
    market = {"use_spot_instances": True, "market": Market()}  # kills without notice
    run = start(make_job(LOADS_SLOWLY + TRAINING, cluster=HERE, **market))
    await_steps(run, 12)
    run.interrupt()
    is_loading = run.folder.opt_ml("algo-1") / "checkpoints" / "was-loading"
    wait_until(is_loading.exists, what="the load")
    run.interrupt().wait(60)

    check_whole(run, attempts=3)
    assert weights_of(run) == unbroken


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("there", "attempts"), [([1, 0], 1), ([0], 0)])
def test_a_run_ends_where_instances_never_come_back(
    make_job: Callable[..., TrainingJob],
    start: Callable[..., Run],
    tmp_path: Path,
    there: list[int],
    attempts: int,
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 2}, "data": there}))
    market = Market(trace=str(trace))
    body = "import time; time.sleep(60)"
    run = start(make_job(body, cluster=HERE, use_spot_instances=True, market=market))

    with pytest.raises(RunFailedError, match="CapacityError: the market's trace has no moment"):
        run.wait(60)
    assert len(run.state.attempts) == attempts
    assert run.state.waited_s < 2.0
    assert processes_after(run.folder.path) == {}
