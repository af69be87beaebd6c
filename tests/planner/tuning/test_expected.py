"""What a search will cost, told before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.planner.tuning.expected import expected_tuning_cost
from smtc_lab.spec.tuning.question import HyperbandStrategyConfig, TuningQuestion
from smtc_lab.spec.tuning.ranges import ContinuousParameter
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

VALUES = 10


def question(**changes: object) -> TuningQuestion:
    told = {
        "objective_metric_name": "loss",
        "hyperparameter_ranges": {"lr": ContinuousParameter(0.0, 1.0)},
        "max_jobs": 9,
    }
    return TuningQuestion(**{**told, **changes})  # type: ignore[arg-type]  # of its fields


def test_it_is_that_of_the_newest_run_of_the_script(tmp_path: Path) -> None:
    run = run_records([0.1] * 20, job_name="before")
    folder = opened(write_run_folder(tmp_path, run)).folder
    job = run.job.model_copy(update={"job_name": None, "hyperparameters": {"lr": 0.3}})
    with pytest.raises(PlannerError, match="logged no 'loss', so what a rung costs"):
        expected_tuning_cost(
            job,
            question(strategy="Hyperband", strategy_config=HyperbandStrategyConfig()),
            root=tmp_path,
        )
    rank = next(iter(run.steps))
    with RecordWriter(folder.records / f"{rank}.sqlite") as writer:
        for number in range(VALUES):
            writer.append(MetricRecord(name="loss", step=number, time_s=float(number), value=1))

    cost = expected_tuning_cost(job, question(), root=tmp_path)
    assert cost.run == "before"
    assert cost.usd_of_run > 0
    assert cost.usd == pytest.approx(9 * cost.usd_of_run)

    halved = expected_tuning_cost(
        job,
        question(strategy="Hyperband", strategy_config=HyperbandStrategyConfig()),
        root=tmp_path,
    )
    # 9 trials to the 1st value, 3 to the 3rd, 1 to the 9th, and that one to the 27th
    assert [(rung.values, rung.trials) for rung in halved.rungs] == [
        (1, 9),
        (3, 3),
        (9, 1),
        (27, 1),
    ]
    values = 9 * 1 + 3 * 2 + 1 * 6 + 1 * 18
    assert halved.usd == pytest.approx(values * cost.usd_of_run / VALUES)


def test_what_is_unknown_is_told(tmp_path: Path) -> None:
    run = run_records([0.1] * 20, job_name="free")
    with pytest.raises(PlannerError, match="No run of"):
        expected_tuning_cost(run.job, question(), root=tmp_path)
    opened(write_run_folder(tmp_path, run, usd_per_hour=None))
    with pytest.raises(PlannerError, match=r"The price of .* is unknown"):
        expected_tuning_cost(run.job, question(), root=tmp_path)
