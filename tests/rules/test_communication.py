"""What is found in how trainers exchange gradients, and in whom they wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.rules.find import find
from tests.kit.records import run_records, step_record

if TYPE_CHECKING:
    from smtc_lab.metrics.finding import Finding

PLAIN = {
    "exposed_comm_s": 0.03,
    "hidden_comm_s": 0.0,
    "rank_wait_s": 0.0,
    "backward_s": 0.05,
    "comm_bytes": 32_000_000,
    "num_buckets": 2,
    "num_syncs": 1,
}


def found(
    *ranks: dict[str, Any], hyperparameters: dict[str, Any] | None = None
) -> list[Finding]:
    """Return the findings of a run of 60 steps of 0.1 s; each rank with its fields."""
    return found_by_step([[fields] * 60 for fields in ranks], hyperparameters)


def found_by_step(
    ranks: list[list[dict[str, Any]]], hyperparameters: dict[str, Any] | None = None
) -> list[Finding]:
    """Return the same of ranks whose steps have fields of their own."""
    run = run_records()
    steps = {
        f"algo-{number}-rank{number}": [
            step_record(
                step=step,
                end_time_s=1_793_701_000.0 + 0.1 * step,
                step_time_s=0.1,
                data_wait_s=0.0,
                **{**PLAIN, **fields},
            )
            for step, fields in enumerate(each)
        ]
        for number, each in enumerate(ranks)
    }
    job = run.job.model_copy(update={"hyperparameters": hyperparameters or {}})
    return list(find(replace(run, steps=steps, job=job)))


def of_kind(findings: list[Finding], kind: str) -> Finding:
    (one,) = [each for each in findings if each.kind == kind]
    return one


def test_few_large_buckets_of_a_small_model_are_to_be_smaller() -> None:
    finding = of_kind(found({}, {}), "communication")

    assert finding.sentence.startswith(
        "30 % of each step is spent on exchanging gradients (32 MB"
    )
    assert finding.action == "DistributedDataParallel(model, bucket_cap_mb=3.8)"
    assert finding.cost is not None
    assert finding.cost.fraction == pytest.approx(0.3)


def test_replicas_of_a_pipeline_get_no_advice_on_buckets_of_ddp() -> None:
    averaged = {"backward_s": None, "num_buckets": 1}

    finding = of_kind(found(averaged, averaged), "communication")

    assert finding.fix.startswith("Replicas of a pipeline average gradients after the last")
    assert not finding.action


def test_buckets_as_a_session_cuts_them_are_not_to_be_smaller() -> None:
    small = {"comm_bytes": 4 * 2**20, "num_buckets": 4}

    finding = of_kind(found(small, small), "communication")

    assert "bucket" not in finding.action + finding.fix
    few = of_kind(
        found({**small, "num_buckets": 2}, {**small, "num_buckets": 2}), "communication"
    )
    assert few.action == "DistributedDataParallel(model, bucket_cap_mb=0.5)"
    assert "Session.prepare() cuts them so by itself." in few.fix


def test_an_exchange_longer_than_backward_is_to_send_half_the_bytes() -> None:
    many = {"num_buckets": 8, "hidden_comm_s": 0.03}

    finding = of_kind(found(many, many), "communication")

    assert "takes longer than the backward pass" in finding.fix
    assert "fp16_compress_hook" in finding.action


def test_a_sharded_model_that_is_gathered_twice_is_to_keep_its_parameters() -> None:
    twice = {"gathered_bytes": 60_000_000, "num_buckets": 24}

    finding = of_kind(found(twice, twice), "communication")

    assert finding.sentence.startswith(
        "30 % of each step is spent on exchanging shards (gradients 32 MB, parameters 60 MB, "
        "in 24 collectives)"
    )
    assert finding.action == "model.set_reshard_after_forward(False)"


def test_a_sharded_model_that_is_gathered_once_is_to_be_sharded_inside_instances() -> None:
    once = {"gathered_bytes": 32_000_000}

    finding = of_kind(found(once, once), "communication")

    assert finding.fix.startswith("Shard inside instances and replicate between them")
    assert finding.action == ""


def test_a_sharded_model_accumulates_without_exchanging_gradients() -> None:
    shards = {"num_syncs": 4, "gathered_bytes": 60_000_000}

    finding = of_kind(found(shards, shards), "accumulation")

    assert finding.action == "model.set_requires_gradient_sync(False)"


def test_averaging_in_each_backward_of_an_accumulation_is_found() -> None:
    finding = of_kind(found({"num_syncs": 4}, {"num_syncs": 4}), "accumulation")

    assert "averaged 4 times for each optimizer step" in finding.sentence
    assert "no_sync" in finding.fix
    assert finding.cost is not None
    assert finding.cost.fraction == pytest.approx(0.3 * 3 / 4)


def test_a_straggler_is_told_apart_from_communication() -> None:
    fast, slow = {"exposed_comm_s": 0.001, "rank_wait_s": 0.04}, {"exposed_comm_s": 0.001}

    findings = found(fast, slow)

    straggler = of_kind(findings, "straggler")
    assert straggler.sentence == (
        "Trainers wait in 20 % of each step for rank 1 on algo-1, which waits for nobody "
        "itself."
    )
    assert not [each for each in findings if each.kind == "communication"]


def test_ranks_that_take_turns_at_being_slow_are_not_named() -> None:
    turns = [
        [{"rank_wait_s": 0.04 * (step % 2 == number)} for step in range(60)]
        for number in range(2)
    ]

    straggler = of_kind(found_by_step(turns), "straggler")

    assert "for the slowest of them, which waits for nobody itself." in straggler.sentence


def test_a_batch_that_is_divided_by_the_trainers_is_told() -> None:
    half = {"num_samples": 16}

    finding = of_kind(found(half, half, hyperparameters={"batch_size": 32}), "divided_batch")

    assert "The batch of 32 samples is divided: each trainer computes 16" in finding.sentence
    kept = found({"num_samples": 32}, {"num_samples": 32}, hyperparameters={"batch_size": 32})
    assert not [each for each in kept if each.kind == "divided_batch"]


def test_runs_that_exchange_nothing_have_no_such_finding() -> None:
    nothing = dict.fromkeys(PLAIN)

    assert found(nothing) == []
