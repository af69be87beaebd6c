"""Metric definitions, with SageMaker's rules."""

from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob


def job(definitions: Any) -> TrainingJob:
    cluster = Cluster.parse("a=ml.c5.xlarge:1")
    return TrainingJob(entry_point="train.py", cluster=cluster, metric_definitions=definitions)


def test_they_go_to_json_and_back() -> None:
    made = job([{"Name": "loss", "Regex": "loss=([0-9.]+)"}])

    assert TrainingJob.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ({"Name": "loss", "Regex": "loss=[0-9]+"}, "with 0 groups"),
        ({"Name": "loss", "Regex": "(loss)=([0-9]+)"}, "with 2 groups"),
        ({"Name": "loss", "Regex": "loss=([0-9]+"}, "which is none"),
        ({"Name": "loss", "Regex": ""}, "of 0 characters"),
        ({"Name": "loss", "Regex": f"({'a' * 500})"}, "of 502 characters"),
        ({"Name": " ", "Regex": "(a)"}, "plain characters"),
        ({"Name": "a" * 256, "Regex": "(a)"}, "plain characters"),
        ({"name": "loss", "regex": "(a)"}, "has name, regex, but"),
        ({}, "has nothing, but"),
    ],
)
def test_one_that_sagemaker_does_not_take_is_refused(
    definition: dict[str, str], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        job([definition])


def test_there_are_40_at_most_and_no_name_twice() -> None:
    definitions = [{"Name": f"m{number}", "Regex": "(a)"} for number in range(40)]

    assert len(job(definitions).metric_definitions) == 40
    with pytest.raises(SpecError, match=r"'m0' 2 times.*\n*.*41 metric_definitions"):
        job([*definitions, definitions[0]])
