"""The CreateHyperParameterTuningJob request of a search. Pure: no network, no credentials."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.launchers.on_sagemaker.aws.request import SOURCE, training_request
from smtc_lab.launchers.on_sagemaker.aws.request_shapes import shape_problems
from smtc_lab.launchers.on_sagemaker.plan import make_plan
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
from smtc_lab.spec.tuning.ranges import CategoricalParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.spec.tuning.ranges import ParameterRange

_LONGEST_NAME = 32
_OF_A_TRIAL = {
    "AlgorithmSpecification",
    "CheckpointConfig",
    "EnableManagedSpotTraining",
    "Environment",
    "InputDataConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "RetryStrategy",
    "RoleArn",
    "StoppingCondition",
    "VpcConfig",
}
"""Fields that a trial's definition shares with the request of a training job."""


def tuning_request(
    job: TrainingJob, question: TuningQuestion, *, catalog: Catalog, **settings: object
) -> dict[str, Any]:
    """Return the exact request; a container finds our start as its toolkit's program.

    Args:
        job: What each trial trains; its name, at most 32 characters, is the tuning job's.
        question: What is searched.
        catalog: Types and prices.
        **settings: The fields of ``SageMakerSettings``.

    Raises:
        SpecError: SageMaker would refuse it; all reasons at once.
    """
    given = SageMakerSettings.of(settings)
    plan = make_plan(job, given, catalog)
    job = plan.job
    training = training_request(job, given)
    trial = {name: value for name, value in training.items() if name in _OF_A_TRIAL}
    container = dict(trial["AlgorithmSpecification"])
    container.pop("ContainerEntrypoint")  # of training jobs alone
    request = {
        "HyperParameterTuningJobName": str(job.job_name),
        "HyperParameterTuningJobConfig": _config(question),
        "TrainingJobDefinition": {
            **trial,
            "AlgorithmSpecification": container,
            "StaticHyperParameters": {
                **{
                    name: value
                    for name, value in training["HyperParameters"].items()
                    if name not in question.hyperparameter_ranges
                },
                "sagemaker_program": json.dumps("start.py"),
                "sagemaker_submit_directory": json.dumps(SOURCE),
            },
        },
        "Tags": training["Tags"],
    }
    if question.warm_start_config is not None:
        request["WarmStartConfig"] = {
            "WarmStartType": question.warm_start_config.warm_start_type,
            "ParentHyperParameterTuningJobs": [
                {"HyperParameterTuningJobName": name}
                for name in question.warm_start_config.parents
            ],
        }
    worst_usd = plan.facts["worst_case_usd"]
    problems = [*_problems(job, question, worst_usd), *shape_problems(request, _OPERATION)]
    if problems:
        raise SpecError(problems)
    return request


_OPERATION = "CreateHyperParameterTuningJob"


def _config(question: TuningQuestion) -> dict[str, Any]:
    limits: dict[str, Any] = {"MaxParallelTrainingJobs": question.max_parallel_jobs}
    if question.strategy != "Grid":
        limits["MaxNumberOfTrainingJobs"] = question.max_jobs
    if question.max_runtime_in_seconds is not None:
        limits["MaxRuntimeInSeconds"] = math.ceil(question.max_runtime_in_seconds)
    config: dict[str, Any] = {
        "Strategy": question.strategy,
        "HyperParameterTuningJobObjective": {
            "Type": question.objective_type,
            "MetricName": question.objective_metric_name,
        },
        "ResourceLimits": limits,
        "ParameterRanges": _ranges(question),
        "TrainingJobEarlyStoppingType": question.early_stopping_type,
        "RandomSeed": question.random_seed,
    }
    if (halving := question.strategy_config) is not None:
        config["StrategyConfig"] = {
            "HyperbandStrategyConfig": {
                "MinResource": halving.min_resource,
                "MaxResource": halving.max_resource,
            }
        }
    if (criteria := question.completion_criteria_config) is not None:
        target = criteria.target_objective_metric_value
        most = criteria.max_number_of_training_jobs_not_improving
        least = {"MaxNumberOfTrainingJobsNotImproving": most}
        config["TuningJobCompletionCriteria"] = {
            **({} if target is None else {"TargetObjectiveMetricValue": target}),
            **({} if most is None else {"BestObjectiveNotImproving": least}),
        }
    return config


def _ranges(question: TuningQuestion) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for name, one in question.hyperparameter_ranges.items():
        told = {"Name": name, **_range(one)}
        found.setdefault(f"{one.kind}ParameterRanges", []).append(told)
    return found


def _range(one: ParameterRange) -> dict[str, Any]:
    """Return the ends or the values of a range, texts as hyperparameters are."""
    if isinstance(one, CategoricalParameter):
        return {"Values": [json.dumps(value) for value in one.values]}
    return {
        "MinValue": repr(one.min_value),
        "MaxValue": repr(one.max_value),
        "ScalingType": one.scaling_type,
    }


def _problems(
    job: TrainingJob, question: TuningQuestion, worst_usd: float | None
) -> Iterator[str]:
    name, budget_usd = str(job.job_name), question.budget_usd
    if len(name) > _LONGEST_NAME:
        yield (
            f"The tuning job is called {name!r}: {len(name)} characters, and may have "
            f"{_LONGEST_NAME}. Give the job a job_name that is shorter."
        )
    known = {each["Name"] for each in job.metric_definitions}
    if question.objective_metric_name not in known:
        yield (
            f"SageMaker finds {question.objective_metric_name!r} in what a script prints, and "
            "metric_definitions of the job do not tell where. Add "
            f"{{'Name': {question.objective_metric_name!r}, 'Regex': '…'}}."
        )
    if budget_usd is None:
        return
    most_usd = math.inf if worst_usd is None else worst_usd * question.num_trials
    if most_usd > budget_usd:
        price = "unknown" if worst_usd is None else f"up to {most_usd:.4g} USD"
        yield (
            f"budget_usd={budget_usd:g} cannot be kept, as SageMaker knows none: the price of "
            f"{question.num_trials} trials is {price}. Lower max_jobs or max_runtime_s."
        )
