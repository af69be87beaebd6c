"""What is hashed of a step is what the next one goes on with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import Run, launcher_named
from smtc_lab.launchers.special_launch import with_fingerprints
from smtc_lab.metrics.records.fingerprints import AFTER, BEFORE, BETWEEN, FingerprintRecord
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_records

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn

torch.manual_seed(0)
makes, judges = nn.Linear(4, 4), nn.Linear(4, 1)
first = torch.optim.SGD(judges.parameters(), 0.1)
second = torch.optim.SGD(makes.parameters(), 0.1)
turns = [(first, lambda batch: makes(batch).detach()), (second, makes)][:OPTIMIZERS]
for batch in torch.utils.data.DataLoader(torch.randn(24, 4), 4):
    for optimizer, make in turns:
        optimizer.zero_grad()
        judges(make(batch)).square().mean().backward()
        optimizer.step()
"""


@pytest.mark.timeout(100)
@pytest.mark.parametrize("optimizers", [1, 2])
def test_what_a_second_optimizer_does_is_taken_before_the_next_step(
    tmp_path: Path, optimizers: int
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("OPTIMIZERS", str(optimizers)))
    launcher = launcher_named(THIS_MACHINE, root=tmp_path / "runs")
    job = TrainingJob(entry_point=str(script), cluster=Cluster.parse("trainers=local:1"))
    run = Run(launcher, launcher.start(with_fingerprints(launcher.plan(job)))).wait()

    (file,) = run.folder.records.glob("*-rank0.sqlite")
    records, _ = read_records(file, FingerprintRecord)
    counted = Counter(one.moment for one in records)
    between = 5 if optimizers == 2 else 0
    assert (counted[BEFORE], counted[AFTER], counted[BETWEEN]) == (1, 6, between)
    left = {one.step + 1: one.parameters for one in records if one.moment == AFTER}
    begun = {one.step: one.parameters for one in records if one.moment == BETWEEN}
    assert all(begun[step] != left[step] for step in begun)
