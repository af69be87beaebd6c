"""The designer, a comparison and a plan predict one and the same cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_cpu_speed import own_cpu_speed
from smtc_lab.launchers.plan_file import write_plan
from smtc_lab.machine.cores import available_cores
from smtc_lab.planner.calibration.parts import CpuSpeedFact, DevicePoint
from smtc_lab.planner.forecast.calibrated import CalibratedModel
from smtc_lab.planner.forecast.forecast import Foreseen, forecast
from smtc_lab.planner.forecast.launched import AskedSetUp
from smtc_lab.planner.plan import plan
from smtc_lab.planner.run_prediction import predicted_of
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.comparison.plan import plan_comparison
from tests.kit.calibrations import calibration, measured

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.planner.calibration.calibration import Calibration

CLUSTERS = (
    "a@train=ml.p3.2xlarge:1",
    "b@train=ml.p3.2xlarge:1,data=ml.c5.9xlarge:1",
    "c@train=ml.g4dn.xlarge:1",
    "d@train=ml.g5.xlarge:1,data=ml.c5.xlarge:2",
    "e@train=ml.p3.8xlarge:1",
)
JITTERY = tuple(
    DevicePoint(batch_size=size, step_s=measured(step_s))
    for size, step_s in ((100, 0.03), (200, 0.0105))
)
"""An emulated device of 10 ms, whose first launch was held up by other work."""


def calibrated(script: Path, script_num_workers: int | None) -> Calibration:
    return calibration(
        workload=workload_hash(script, {}),
        entry_point=str(script),
        hyperparameters={},
        script_num_workers=script_num_workers,
        device_points=JITTERY,
        cpu_speed=CpuSpeedFact(value=own_cpu_speed().value, kind="user", of="this machine"),
    )


@pytest.mark.parametrize("script_num_workers", [None, 0, 2])
def test_all_three_predict_alike(tmp_path: Path, script_num_workers: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('a script')\n", encoding="utf-8")
    known, catalog = calibrated(script, script_num_workers), Catalog.load()
    emulation = Emulation(device_step_time_s=0.01)
    jobs = [
        TrainingJob(entry_point=str(script), cluster=Cluster.parse(each), emulation=emulation)
        for each in CLUSTERS
    ]
    models = [CalibratedModel(known)] * len(jobs)

    designed = forecast(
        [AskedSetUp(job=job, emulation=emulation) for job in jobs],
        models,
        catalog,
        cores=available_cores(),
    )
    planned = plan(known, families=["p3"], catalog=catalog)
    launches = plan_comparison(jobs, rounds=1, root=tmp_path / "runs", catalog=catalog).launches

    for launch, foreseen in zip(launches, designed, strict=True):
        assert isinstance(foreseen, Foreseen)
        folder = RunFolder.create(tmp_path / "runs", str(launch.job.job_name))
        write_plan(folder, launch)
        by_plan = planned.cluster(launch.job.cluster).prediction.step_time_s.mean
        assert foreseen.prediction.step_time_s.mean == pytest.approx(by_plan, rel=1e-3)
        compared = predicted_of(known, folder).step_time_s.mean
        assert compared == pytest.approx(by_plan, rel=1e-3)
