"""Points of a Pareto that are launched, emulated, beside what was predicted of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.run import launch
from smtc_lab.planner.calibration.calibrate import calibrate
from smtc_lab.planner.tuning.pareto import tuning_job, tuning_pareto
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.spec.tuning.ranges import parse_range
from smtc_lab.study.tuning.tuner import launch_tuning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = dict[str, Any]

_OWN = "t=ml.g4dn.xlarge:1"
_CLUSTERS = (_OWN, "t=ml.g5.xlarge:1", "t=ml.p3.2xlarge:1")
_DEVICE_S = "T4=0.02,A10G=0.01,V100=0.008"
_OWN_S = 0.02
_FIRST = 3
_SCRIPT = """
import torch
from torch import nn
import smtc_lab as lab

class Waves(torch.utils.data.Dataset):
    def __len__(self):
        return 1024
    def __getitem__(self, place):
        x = torch.linspace(0, place, 512).sin()
        return x[:16], x.sum()[None]

session = lab.Session()
lr, batch_size, epochs = (
    session.hyperparameter(name, value)
    for name, value in (("lr", 0.01), ("batch_size", 64), ("epochs", 2))
)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
model, optimizer = session.prepare(model, optimizer)
loader = session.dataloader(Waves(), batch_size=batch_size, shuffle=True, num_workers=1)
for epoch in range(epochs):
    for inputs, targets in session.steps(loader):
        loss = (model(inputs) - targets).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lab.log(loss=loss.item())
"""


def priced_rows(
    folder: Path, *, trials: int, points: int, seconds_per_point: float
) -> Iterator[Row]:
    """Yield what a search of real runs spent, and points that were launched.

    Args:
        folder: For runs; made.
        trials: Of the search.
        points: How many are launched, the best ones first, then of all in turn.
        seconds_per_point: Of the calibration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "train_waves.py"
    script.write_text(_SCRIPT, encoding="utf-8")
    job = TrainingJob(
        entry_point=str(script),
        cluster=Cluster.parse(_OWN),
        emulation=Emulation(device_step_time_s=_OWN_S),
    )
    ranges = ("lr=log:1e-3..1e-1", "batch_size=32,64,128", "epochs=1..4")
    question = TuningQuestion(
        objective_metric_name="loss",
        objective_type="Minimize",
        hyperparameter_ranges=dict(map(parse_range, ranges)),
        max_jobs=trials,
    )
    root = folder / "runs"
    study = launch_tuning(job, question, root=root, detach=False)
    found = study.wait()
    usd = [trial.usd or 0.0 for trial in found.trials]
    told = {"expected_usd": trials * sum(usd[:_FIRST]) / _FIRST, "spent_usd": sum(usd)}
    yield {"what": "expected", "kind": "launched", "seed": 0, "trials": trials, **told}
    calibrate(
        tuning_job(study), device_s=_DEVICE_S, seconds_per_point=seconds_per_point, root=root
    )
    prices = tuning_pareto(study, _CLUSTERS)
    others = [point for point in prices.points if not point.is_best]
    step = max(1, len(others) // max(1, points - len(prices.best)))
    for point in [*prices.best, *others[::step]][:points]:
        bill = launch(tuning_job(study, point), root=root, detach=False).wait().bill
        measured_usd = bill.steps_usd or 0.0
        yield {
            "what": "priced",
            "trial": point.trial,
            "cluster": point.cluster,
            "is_best": point.is_best,
            "usd": [point.usd.low, point.usd.mean, point.usd.high],
            "measured_usd": measured_usd,
            "is_inside": point.usd.low <= measured_usd <= point.usd.high,
        }
