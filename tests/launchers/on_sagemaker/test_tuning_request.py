"""The exact request by which SageMaker searches hyperparameters by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.errors import LauncherError, SpecError
from tests.launchers.on_sagemaker.test_plan import ACCOUNT

if TYPE_CHECKING:
    from pathlib import Path

LOSS = {"Name": "loss", "Regex": "loss=([0-9.]+)"}
RANGES = {
    "lr": lab.ContinuousParameter(1e-4, 1e-1, "Logarithmic"),
    "width": lab.IntegerParameter(16, 256),
    "kind": lab.CategoricalParameter(["adam", "sgd"]),
}


def tuner(tmp_path: Path, *, name: str = "digits", **question: Any) -> lab.HyperparameterTuner:
    script = tmp_path / "train.py"
    script.write_text("print('loss=1')", encoding="utf-8")
    job = lab.TrainingJob(
        job_name=name,
        entry_point=str(script),
        cluster=lab.Cluster.parse("gpu=ml.g5.xlarge:1"),
        hyperparameters={"lr": 0.1, "epochs": 3},
        metric_definitions=[LOSS],
        max_runtime_s=3600,
    )
    told = {"hyperparameter_ranges": RANGES, "objective_type": "Minimize", **question}
    return lab.HyperparameterTuner(job, "loss", **told)


def test_it_says_all_that_is_asked(tmp_path: Path) -> None:
    request = tuner(
        tmp_path,
        max_jobs=20,
        max_parallel_jobs=2,
        max_runtime_in_seconds=7200,
        early_stopping_type="Auto",
        completion_criteria_config=lab.TuningJobCompletionCriteriaConfig(
            target_objective_metric_value=0.1, max_number_of_training_jobs_not_improving=5
        ),
        warm_start_config=lab.WarmStartConfig(
            warm_start_type="TransferLearning", parents=["before"]
        ),
        random_seed=3,
    ).request("sagemaker", **ACCOUNT)

    assert request["HyperParameterTuningJobName"] == "digits"
    assert request["HyperParameterTuningJobConfig"] == {
        "Strategy": "Bayesian",
        "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
        "ResourceLimits": {
            "MaxParallelTrainingJobs": 2,
            "MaxNumberOfTrainingJobs": 20,
            "MaxRuntimeInSeconds": 7200,
        },
        "ParameterRanges": {
            "ContinuousParameterRanges": [
                {
                    "Name": "lr",
                    "MinValue": "0.0001",
                    "MaxValue": "0.1",
                    "ScalingType": "Logarithmic",
                }
            ],
            "IntegerParameterRanges": [
                {"Name": "width", "MinValue": "16", "MaxValue": "256", "ScalingType": "Auto"}
            ],
            "CategoricalParameterRanges": [{"Name": "kind", "Values": ['"adam"', '"sgd"']}],
        },
        "TrainingJobEarlyStoppingType": "Auto",
        "RandomSeed": 3,
        "TuningJobCompletionCriteria": {
            "TargetObjectiveMetricValue": 0.1,
            "BestObjectiveNotImproving": {"MaxNumberOfTrainingJobsNotImproving": 5},
        },
    }
    assert request["WarmStartConfig"] == {
        "WarmStartType": "TransferLearning",
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "before"}],
    }
    trial = request["TrainingJobDefinition"]
    assert trial["StaticHyperParameters"] == {
        "epochs": "3",
        "sagemaker_program": '"start.py"',
        "sagemaker_submit_directory": '"/opt/ml/input/data/smtc"',
    }
    assert "ContainerEntrypoint" not in trial["AlgorithmSpecification"]
    assert trial["ResourceConfig"]["InstanceType"] == "ml.g5.xlarge"
    assert LOSS in trial["AlgorithmSpecification"]["MetricDefinitions"]
    json.dumps(request)


def test_a_grid_and_halving_have_their_own_fields(tmp_path: Path) -> None:
    kinds = {"kind": RANGES["kind"]}
    grid = tuner(tmp_path, strategy="Grid", hyperparameter_ranges=kinds)
    asked = grid.request("sagemaker", **ACCOUNT)["HyperParameterTuningJobConfig"]
    assert asked["ResourceLimits"] == {"MaxParallelTrainingJobs": 1}
    halved = tuner(
        tmp_path, strategy="Hyperband", strategy_config=lab.HyperbandStrategyConfig()
    ).request("sagemaker", **ACCOUNT)["HyperParameterTuningJobConfig"]
    assert halved["StrategyConfig"] == {
        "HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 27}
    }


def test_what_the_service_would_refuse_is_refused_at_once(tmp_path: Path) -> None:
    asked = tuner(
        tmp_path,
        name="a-name-of-more-than-thirty-two-letters",
        max_jobs=20,
        max_runtime_in_seconds=60,
        budget_usd=1.0,
    )
    asked.job = asked.job.model_copy(update={"metric_definitions": ()})

    with pytest.raises(SpecError) as refused:
        asked.request("sagemaker", **ACCOUNT)

    for part in (
        ": 38 characters, and may have 32",
        "metric_definitions of the job do not tell where",
        "budget_usd=1 cannot be kept, as SageMaker knows none",
        "MaxRuntimeInSeconds",
    ):
        assert part in str(refused.value)


def test_where_trials_are_launched_one_by_one_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(LauncherError, match="searches nothing by itself"):
        tuner(tmp_path).request("local")
    with pytest.raises(LauncherError, match="would be paid for, and nobody could confirm"):
        tuner(tmp_path).fit(on="sagemaker", root=tmp_path / "runs")
