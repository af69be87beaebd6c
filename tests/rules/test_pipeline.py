"""What is found in how the stages of a model wait for each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.rules.find import find
from smtc_lab.spec.cluster import Cluster
from tests.kit.pipelines import gpipe_records
from tests.kit.records import run_records, step_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.finding import Finding


def found(
    seconds: Sequence[float],
    *,
    microbatches: int = 4,
    samples: int = 64,
    cluster: str = "here=local",
    **stage: Any,
) -> dict[str, Finding]:
    """Return the findings of a run with these stages, by their kinds."""
    run = run_records()
    records = gpipe_records(seconds=seconds, microbatches=microbatches, **stage)
    steps = {
        name: [
            step_record(
                step=step,
                end_time_s=1_793_701_000.0 + 0.1 * step,
                step_time_s=0.1,
                data_wait_s=0.0,
                num_samples=0 if place else samples,
            )
            for step in range(60)
        ]
        for place, name in enumerate(records.stages)
    }
    job = run.job.model_copy(update={"cluster": Cluster.parse(cluster)})
    findings = find(replace(run, steps=steps, job=job, pipeline=records))
    return {each.kind: each for each in findings}


def test_a_large_bubble_is_to_have_more_microbatches_with_what_they_bring() -> None:
    bubble = found([0.1] * 4, microbatches=4)["bubble"]

    assert bubble.sentence == (
        "The 4 ranks of the pipeline are idle for 43 % of each step: 4 microbatches fill and "
        "empty it, for which gpipe needs 43 %."
    )
    assert bubble.fix.startswith(
        "Divide the batch into 32 microbatches: by the formula 9 % are left, and a step takes "
        "38 % less"
    )
    assert bubble.action == (
        'distribution={"pipeline": 4, "microbatches": 32, "schedule": "gpipe"}'
    )
    assert bubble.cost is not None
    assert bubble.cost.evidence == "predicted"
    before, after = 1 + 3 / 4, 1 + 3 / 32
    assert bubble.cost.fraction == pytest.approx(1 - after / before)


def test_a_batch_that_cannot_be_divided_further_is_to_be_larger() -> None:
    assert "Take a larger batch" in found([0.1] * 4, samples=4)["bubble"].fix
    assert "into 8 microbatches" in found([0.1] * 4, samples=8)["bubble"].fix


def test_a_small_bubble_is_no_finding() -> None:
    assert "bubble" not in found([0.1, 0.1], microbatches=16)


def test_a_module_that_alone_bounds_the_step_is_named() -> None:
    uneven = found(
        [0.1, 0.1, 0.3],
        microbatches=32,
        flops_fraction=0.43,
        largest_module="head",
        largest_fraction=0.41,
        num_modules=1,
    )["uneven_stages"]

    assert "Stage 2 (layers.0 to layers.1) takes 1.8 times as long" in uneven.sentence
    assert "head alone is 41 % of the step, so no cut is more than 2.4 times" in uneven.sentence
    assert "more than 2 bring nothing" in uneven.fix
    assert uneven.cost is not None
    assert uneven.cost.evidence == "at most"


def test_a_stage_that_is_slower_than_its_operations_is_to_give_a_module_away() -> None:
    uneven = found([0.1, 0.2], microbatches=32, flops_fraction=0.5, largest_fraction=0.1)[
        "uneven_stages"
    ]

    assert "put layers.0 on stage 0" in uneven.fix
    assert '"pins": {"layers.0": 0}}' in uneven.action


def test_even_stages_are_no_finding() -> None:
    assert "uneven_stages" not in found([0.1, 0.11], microbatches=4)


def test_a_model_that_fits_in_shards_is_told_so_with_the_bytes() -> None:
    fields = {"static_bytes": 8e9, "activation_bytes": 1e9, "largest_bytes": 10**9}
    sharded = found([0.1, 0.1], cluster="a=ml.p3.8xlarge:1", **fields)["shard_instead"]
    needed_gib = (8e9 + 2e9 + 4e9) / 2**30

    assert f"each would hold {needed_gib:.3g} GiB" in sharded.sentence
    assert "of 14.4 GiB" in sharded.sentence
    assert sharded.severity == "note"
    assert sharded.action == 'distribution={"shard": 2}'


@pytest.mark.parametrize(
    ("cluster", "static"), [("a=ml.p3.8xlarge:1", 16e9), ("here=local", 1.0)]
)
def test_a_model_that_does_not_fit_in_shards_or_whose_device_is_unknown_is_not(
    cluster: str, static: float
) -> None:
    assert "shard_instead" not in found([0.1, 0.1], cluster=cluster, static_bytes=static)


def test_a_run_without_a_pipeline_has_none_of_it() -> None:
    run = run_records()

    assert pipeline_times(run.pipeline, evidence="measured") is None
    kinds = {each.kind for each in find(run)}
    assert not kinds & {"bubble", "uneven_stages", "shard_instead"}
