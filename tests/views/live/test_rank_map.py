"""What a view is told of several trainers: live, at the end, and saved."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.follow.run_follower import RunFollower, rank_files, read_plan
from smtc_lab.follow.stream import Stream
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run.describer import RunDescriber
from smtc_lab.views.run.ranks import RankSummarizer
from smtc_lab.views.run.snapshot import take_snapshot
from smtc_lab.views.run.words import run_text
from smtc_lab.views.text.json_values import json_values
from tests.kit.records import HETEROGENEOUS, STARTED_S, run_records, step_record
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords, StepRecord
    from smtc_lab.store.run_folder import RunFolder

NOBODY = Stream(lambda _content, _buffers: None)


def steps_of(rank: int, num_steps: int, *, first: int = 0) -> list[StepRecord]:
    """Return steps of 0.2 s in which rank 1 works throughout, and the others half of it."""
    wait_s = 0.0 if rank == 1 else 0.1
    return [
        step_record(
            step=step,
            end_time_s=STARTED_S + 2 + 0.2 * (step + 1),
            step_time_s=0.2,
            data_wait_s=0.01,
            exposed_comm_s=0.0,
            rank_wait_s=wait_s,
        )
        for step in range(first, first + num_steps)
    ]


def ranks_of(num_ranks: int, num_steps: int, **example: object) -> RunRecords:
    run = run_records([], cluster=f"dnn_group=ml.p3.2xlarge:{num_ranks}", **example)
    run.steps.clear()
    run.steps.update(
        {f"algo-{rank + 1}-rank{rank}": steps_of(rank, num_steps) for rank in range(num_ranks)}
    )
    return run


def test_the_slow_trainer_works_when_the_others_wait(tmp_path: Path) -> None:
    told = take_snapshot(write_run_folder(tmp_path, ranks_of(3, 40))).info.rank_map

    assert told is not None
    assert (told.trainers, told.steps, told.width, told.tells_waits) == (3, 40, 1, True)
    assert [(row.rank, row.host) for row in told.rows] == [
        (0, "algo-1"),
        (1, "algo-2"),
        (2, "algo-3"),
    ]
    assert [row.excess_fraction for row in told.rows] == [0.0, 1.0, 0.0]
    assert [set(row.own_fraction) for row in told.rows] == [{0.5}, {1.0}, {0.5}]


def test_the_trainer_that_is_waited_for_is_the_slow_one_also_between_its_steps(
    tmp_path: Path,
) -> None:
    run = ranks_of(3, 80)
    for name, steps in run.steps.items():
        late = name == "algo-2-rank1"  # it logs between its steps, which are as long as others'
        run.steps[name] = [
            replace(step, step_time_s=0.16, rank_wait_s=0.0)
            if late
            else replace(step, rank_wait_s=0.04)
            for step in steps
        ]

    info = take_snapshot(write_run_folder(tmp_path, run)).info

    assert info.rank_map is not None
    slow = [
        row.rank
        for row in info.rank_map.rows
        if (row.excess_fraction or 0.0) >= info.rank_map.slow_from
    ]
    (told,) = (each for each in info.findings if "Trainers wait in" in each.sentence)
    assert slow == [1]
    assert "for rank 1 on algo-2, which waits for nobody itself" in told.sentence


def test_what_is_told_live_is_told_at_the_end(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, ranks_of(3, 150, state="InProgress"))
    follower = RunFollower(folder, NOBODY)
    describer = RunDescriber(follower)
    follower.look()
    describer.look()
    before = describer.describe().rank_map
    for rank in range(3):
        with RecordWriter(folder.records / f"algo-{rank + 1}-rank{rank}.sqlite") as writer:
            for record in steps_of(rank, 250, first=150):
                writer.append(record)
    set_state(folder, "Completed")
    follower.look()
    describer.look(last=True)

    live = describer.describe().rank_map

    assert live == take_snapshot(folder).info.rank_map
    assert before is not None
    assert live is not None
    assert (before.width, live.width, live.steps) == (2, 4, 400)


def test_many_trainers_and_steps_are_few_numbers(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, ranks_of(100, 240))
    summarizer = RankSummarizer()

    summarizer.look(rank_files(folder, read_plan(folder)), first=0, end=240)

    told = summarizer.map
    assert told is not None
    assert (told.trainers, len(told.rows), told.width) == (100, 64, 2)
    assert 1 in [row.rank for row in told.rows]
    assert [row.rank for row in told.rows] == sorted(row.rank for row in told.rows)
    assert len(json.dumps(json_values(told))) < 64_000


def test_trainers_that_told_no_waits_are_told_so(tmp_path: Path) -> None:
    run = run_records([0.2] * 20, num_ranks=2, cluster="dnn_group=ml.p3.2xlarge:1")
    folder = write_run_folder(tmp_path, run)
    plan = json.loads(folder.plan_file.read_text())
    plan["instances"][0] |= {"rank": 0, "num_trainers": 2}
    folder.plan_file.write_text(json.dumps(plan))

    told = take_snapshot(folder).info.rank_map

    assert told is not None
    assert told.tells_waits is False
    assert [set(row.own_fraction) for row in told.rows] == [{1.0}, {1.0}]


def test_one_trainer_has_no_map_and_is_not_spread(tmp_path: Path) -> None:
    info = take_snapshot(write_run_folder(tmp_path, run_records([0.2] * 20))).info

    assert info.rank_map is None
    assert info.spread is None


def spread_folder(tmp_path: Path, *, link: str | None) -> RunFolder:
    run = run_records([0.2] * 20, cluster=HETEROGENEOUS, emulation=Emulation(link=link))
    run = replace(run, job=run.job.model_copy(update={"distribution": Distribution(data=4)}))
    folder = write_run_folder(tmp_path, run)
    plan = json.loads(folder.plan_file.read_text())
    plan["instances"][0]["num_trainers"] = 4
    plan["facts"] = {
        "link": {"inside": None, "between": {"latency_s": 1e-4, "bytes_per_s": 1.25e9}},
    }
    folder.plan_file.write_text(json.dumps(plan))
    return folder


def test_a_run_tells_its_distribution_and_its_declared_network(tmp_path: Path) -> None:
    link = "inside=10Gbit/20us,between=10Mbit/100us"

    seen = take_snapshot(spread_folder(tmp_path, link=link))

    spread = seen.info.spread
    assert spread is not None
    assert (spread.trainers, spread.replicas, spread.shard) == (4, 4, 1)
    assert spread.between is not None
    assert (spread.between.gbps, spread.between.latency_s) == (0.01, 1e-4)
    text = run_text(seen)
    assert "4: 4 replicas of the model" in text
    assert "between instances 10 Mbit/s, 100 µs; inside an instance 10 Gbit/s" in text
    assert "(declared)" in text


def test_the_stages_of_a_pipeline_are_one_replica(tmp_path: Path) -> None:
    folder = spread_folder(tmp_path, link="between=catalog/100us")
    job = json.loads(folder.job_file.read_text())
    job["distribution"] = {"pipeline": 4}
    folder.job_file.write_text(json.dumps(job))

    seen = take_snapshot(folder)

    spread = seen.info.spread
    assert spread is not None
    assert (spread.replicas, spread.shard) == (1, 4)
    assert "4: 1 replica of the model, shared by 4 of them" in run_text(seen)


def test_the_catalogs_bandwidth_is_told_where_the_run_took_it(tmp_path: Path) -> None:
    seen = take_snapshot(spread_folder(tmp_path, link="between=catalog/100us")).info.spread

    assert seen is not None
    assert seen.between is not None
    assert seen.between.gbps == pytest.approx(10)
    assert seen.inside is None


def test_a_network_that_was_not_declared_is_told_as_the_catalogs(tmp_path: Path) -> None:
    seen = take_snapshot(spread_folder(tmp_path, link=None))

    spread = seen.info.spread
    assert spread is not None
    assert spread.is_rated
    assert spread.between is not None
    assert spread.between.gbps == pytest.approx(10)
    assert "between instances 10 Gbit/s, 100 µs (the catalog's)" in run_text(seen)


@pytest.mark.parametrize("facts", [None, [], {"link": 3}, {"link": {"between": {}}}])
def test_a_plan_that_is_damaged_leaves_the_network_unknown(
    tmp_path: Path, facts: object
) -> None:
    folder = spread_folder(tmp_path, link="between=catalog/100us")
    plan = json.loads(folder.plan_file.read_text())
    folder.plan_file.write_text(json.dumps({**plan, "facts": facts}))

    spread = take_snapshot(folder).info.spread

    assert spread is not None
    assert spread.between is None
