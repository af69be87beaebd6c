from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.distribution_setups import (
    distribution_jobs,
    distribution_set_ups,
)


def test_lists_of_values_belong_together_by_their_places() -> None:
    one, two, staged = distribution_set_ups(
        {"data": ("1", "2", "1"), "pipeline": (1, 1, 2), "microbatches": (8,)}
    )

    assert (one.label, two.label, staged.label) == ("one trainer", "data 2", "pipeline 2")
    assert one.distribution == Distribution(data=1)
    assert two.distribution == Distribution(data=2)
    assert staged.distribution == Distribution(data=1, pipeline=2, microbatches=8)


def test_schedules_of_one_pipeline_are_compared() -> None:
    found = distribution_set_ups({"pipeline": (2,), "schedule": ("gpipe", "1f1b")})

    assert [each.label for each in found] == ["gpipe", "1f1b"]
    assert [each.distribution.schedule for each in found] == ["gpipe", "1f1b"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"data": ("1", "2"), "shard": (1, 2, 3)},
            "there are of data 2, shard 3. Give equally",
        ),
        ({"data": ("1", "many")}, "--data 'many' is not a number"),
        ({"pipeline": (2, 4), "microbatches": (1,)}, "needs at least 4"),
    ],
)
def test_lists_that_make_no_distribution_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        distribution_set_ups(given)


def test_every_job_has_every_distribution_and_a_name_of_its_own() -> None:
    jobs = [
        TrainingJob(entry_point="train.py", cluster=Cluster.parse(f"{name}@here=local:1"))
        for name in ("one", "other")
    ]
    set_ups = distribution_set_ups({"data": ("1", "2")})

    made = distribution_jobs(jobs, set_ups)

    assert [job.cluster.label for job in made] == [
        "one, one trainer",
        "one, data 2",
        "other, one trainer",
        "other, data 2",
    ]
    assert [job.cluster.label for job in distribution_jobs(jobs[:1], set_ups)] == [
        "one trainer",
        "data 2",
    ]


def test_the_same_distribution_twice_is_refused() -> None:
    jobs = [TrainingJob(entry_point="train.py", cluster=Cluster.parse("here=local:1"))]

    with pytest.raises(SpecError, match="'data 2' is given 2 times"):
        distribution_jobs(jobs, distribution_set_ups({"data": ("2", "2")}))
