"""Trials of a search, priced on clusters that none of them ran on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.errors import SpecError
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.study.folder import StudyFolder, StudyRequest, studies_root
from smtc_lab.study.tuning.book import QUESTION, run_name
from smtc_lab.study.tuning.ledger import LedgerRow, TrialLedger
from tests.kit.calibrations import PATHS, keep_calibration, worker_point
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OWN = "g=ml.g4dn.xlarge:1"
DEAR = "g=ml.p3.2xlarge:1"
USD_PER_HOUR = {"ml.g4dn.xlarge": 0.7364, "ml.p3.2xlarge": 3.825}
DEVICE_S = 0.01
TIMES = {"NVIDIA T4": DEVICE_S, "NVIDIA V100": 0.004}
STEPS = 400
CALIBRATED: dict[str, Any] = {
    "emulated_device_s": DEVICE_S,
    "worker_points": tuple(worker_point(1e-5, path=path) for path in PATHS),
}


class MadeSearch:
    """Writes the folder of a search of three trials, and of their runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.script = root / "train.py"
        root.mkdir()
        self.script.write_text("print('a script')\n", encoding="utf-8")
        self.job = lab.TrainingJob(
            entry_point=str(self.script),
            cluster=lab.Cluster.parse(OWN),
            emulation=lab.Emulation(device_step_time_s=DEVICE_S),
            hyperparameters={"batch_size": 100},
        )

    def made(
        self, losses: Sequence[float], *, step_s: Sequence[float] = (), **question: Any
    ) -> lab.TuningRun:
        folder = StudyFolder(studies_root(self.root) / "search")
        folder.path.mkdir(parents=True)
        asked = TuningQuestion(
            objective_metric_name="loss",
            objective_type="Minimize",
            hyperparameter_ranges={"lr": lab.ContinuousParameter(0.001, 0.1)},
            max_jobs=len(losses),
            **question,
        )
        request = StudyRequest(
            kind="tuning",
            jobs=(self.job,),
            rounds=0,
            root=self.root,
            created=datetime.now(UTC),
            options={QUESTION: asked.model_dump(mode="json"), "instance_types": []},
        )
        folder.request_file.write_text(request.to_json(), encoding="utf-8")
        with TrialLedger(folder.path) as ledger:
            for number, loss in enumerate(losses):
                self._trial(ledger, number, loss, step_s[number] if step_s else DEVICE_S)
        return lab.TuningRun(folder)

    def _trial(self, ledger: TrialLedger, number: int, loss: float, step_s: float) -> None:
        steps = STEPS // (number + 1)  # the later ones are cheaper
        values = {"lr": 0.01 * (number + 1)}
        job = self.job.model_copy(
            update={
                "job_name": run_name("search", number),
                "hyperparameters": {**self.job.hyperparameters, **values},
            }
        )
        run = replace(run_records([step_s] * steps, cluster=OWN), job=job)
        folder = write_run_folder(self.root, run)
        instance = {"role": "train", "num_cpus": 2, "cpu_quota_cores": 2.0, "num_workers": 0}
        plan = {"launcher": "local", "instances": [{**instance, "vcpus": 4}]}
        folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")
        ledger.write(LedgerRow(what="asked", number=number, parameters=values))
        ledger.write(
            LedgerRow(
                what="ended",
                number=number,
                state="Completed" if loss < 9 else "Failed",
                value=loss if loss < 9 else None,
                points=steps,
                steps=steps,
                seconds=steps * step_s,
                usd=steps * step_s * USD_PER_HOUR["ml.g4dn.xlarge"] / 3600,
            )
        )


@pytest.fixture
def search(tmp_path: Path) -> MadeSearch:
    return MadeSearch(tmp_path / "runs")


def usd(pareto: Any, trial: int, cluster: str) -> float:
    (found,) = [p for p in pareto.points if (p.trial, p.cluster) == (trial, cluster)]
    assert found.usd.low < found.usd.mean < found.usd.high
    assert found.usd.level == 0.8
    return float(found.usd.mean)


def test_each_trial_is_priced_on_each_cluster_and_the_best_ones_are_told(
    search: MadeSearch,
) -> None:
    study = search.made([0.1, 0.5, 0.3])
    keep_calibration(search.job, search.root, device_times=TIMES, **CALIBRATED)

    pareto = lab.tuning_pareto("search", [OWN, DEAR], root=search.root)
    named = lab.tuning_pareto("search", [OWN.replace("g=", "other=")], root=search.root)

    own_usd = STEPS * DEVICE_S * USD_PER_HOUR["ml.g4dn.xlarge"] / 3600
    assert usd(pareto, 0, OWN) == named.points[0].usd.mean == pytest.approx(own_usd)
    assert usd(pareto, 2, OWN) == pytest.approx(own_usd / 3, rel=0.01)
    dear = pareto.points[1]
    hourly = dear.usd.mean / dear.time_s.mean * 3600
    assert hourly == pytest.approx(USD_PER_HOUR["ml.p3.2xlarge"], rel=0.01)
    assert dear.time_s.mean == pytest.approx(STEPS * TIMES["NVIDIA V100"], rel=0.1)
    assert [(p.trial, p.cluster) for p in pareto.best] == [(2, OWN), (0, OWN)]
    job = lab.tuning_job(study, dear)
    assert (str(job.cluster), job.job_name) == (DEAR, None)
    assert job.hyperparameters == {"batch_size": 100, "lr": 0.01}
    assert job.emulation is not None
    assert job.emulation.device_step_time_s == TIMES["NVIDIA V100"]


def test_without_clusters_a_plan_chooses_them(search: MadeSearch) -> None:
    study = search.made([0.1])
    keep_calibration(search.job, search.root, device_times=TIMES, **CALIBRATED)

    clusters = {point.cluster for point in lab.tuning_pareto(study).points}

    assert OWN in clusters
    assert 2 <= len(clusters) <= 5
    assert all(lab.tuning_job(study, cluster=one).cluster for one in clusters)


def test_without_a_calibration_only_its_own_cluster_is_priced(search: MadeSearch) -> None:
    pareto = lab.tuning_pareto(search.made([0.1, 99.0]), [OWN, DEAR])

    assert [(p.trial, p.cluster) for p in pareto.points] == [(0, OWN)]
    told = "\n".join(pareto.left_out)
    assert "lab.calibrate(lab.tuning_job('search'))" in told
    assert "1 of 2 trials: not trained to their end." in told
    assert f"Trial 0 on {DEAR}: No calibration of the script is kept." in told
    assert "0.1" in str(pareto)


def test_a_trial_with_another_model_moves_its_prices_and_widens_them(
    search: MadeSearch,
) -> None:
    study = search.made([0.1, 0.2], step_s=(0.2, 2.0))
    keep_calibration(search.job, search.root, **CALIBRATED)

    pareto = lab.tuning_pareto(study, [DEAR])

    first, second = (p.usd for p in pareto.points)
    assert second.mean == pytest.approx(10 * first.mean / 2, rel=0.01)  # half as many steps
    assert second.high / second.low > 5 * first.high / first.low


def test_times_of_trials_side_by_side_do_not_count(search: MadeSearch) -> None:
    study = search.made([0.1, 0.2], step_s=(9.0, 9.0), max_parallel_jobs=2)
    keep_calibration(search.job, search.root, **CALIBRATED)

    pareto = lab.tuning_pareto(study, [OWN])

    assert "Times and costs of the trials do not count" in pareto.left_out[0]
    assert pareto.points[0].time_s.mean < 0.1 * 9.0 * STEPS


def test_a_trial_that_is_none_is_refused(search: MadeSearch) -> None:
    study = search.made([0.1])

    with pytest.raises(SpecError, match="has no trial 7, of 1"):
        lab.tuning_job(study, 7)
    assert lab.tuning_job(study, job_name="once-more").job_name == "once-more"


def test_a_calibration_of_another_device_prices_no_other_cluster(search: MadeSearch) -> None:
    study = search.made([0.1])
    keep_calibration(search.job, search.root, **{**CALIBRATED, "emulated_device_s": 0.5})

    pareto = lab.tuning_pareto(study)

    assert [point.cluster for point in pareto.points] == [OWN]
    assert "The search declares device_step_time_s=0.01, and its cal" in pareto.left_out[0]
