"""What a view shows of a run after its last record is the result, number for number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.rules.observation import Observation
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_run
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.folder import LaunchedRun
from smtc_lab.views.figures.launches import launches_of, measured_step_times
from smtc_lab.views.run.listed import ListedRun
from smtc_lab.views.run.snapshot import take_snapshot
from smtc_lab.views.study.estimate import set_up_estimate, with_result
from smtc_lab.views.study.followed_launch import FollowedLaunch
from smtc_lab.views.text.bill import COST_LABEL, TIME_LABEL
from smtc_lab.views.text.cells import BATCHES_LABEL, DATALOADER_LABEL
from smtc_lab.views.text.set_ups import SetUpsSoFar
from smtc_lab.views.text.table import comparison_rows
from tests.kit.records import STARTED_S, loader_record, run_records, step_record
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords, StepRecord

NOBODY = Stream(lambda _content, _buffers: None)
GROUP = "dnn_group"


def unequal_ranks(num_ranks: int, num_steps: int, seed: int, *, quota: bool) -> RunRecords:
    """Return a run whose ranks differ in every number, and in how many steps they recorded."""
    rng = np.random.default_rng(seed)
    run = run_records(
        [0.2] * num_steps,
        cluster=cluster_of(num_ranks),
        job_name=f"run-{seed}",
        cpu_quota_cores=1.0 if quota else None,
    )
    steps = {
        f"algo-{rank + 1}-rank{rank}": rank_steps(rng, num_steps + int(rng.integers(3)))
        for rank in range(num_ranks)
    }
    system = {
        host: [
            replace(sample, cpu_used_s=sample.cpu_used_s * rng.uniform(0.2, 1.2))
            for sample in samples
        ]
        for host, samples in run.system.items()
    }
    servers = ("local", "torch", f"algo-{num_ranks + 1}")
    loader = {
        rank: [
            loader_record(str(rng.choice(servers)), int(rng.integers(9)))
            for _ in range(rng.integers(5))
        ]
        for rank in steps
    }
    return replace(run, steps=steps, system=system, loader=loader)


def cluster_of(num_ranks: int) -> Cluster:
    return Cluster.parse(
        f"several@{GROUP}=ml.p3.2xlarge:{num_ranks},data_group=ml.c5.9xlarge:1"
    )


def rank_steps(rng: np.random.Generator, num_steps: int) -> list[StepRecord]:
    end_time_s, records = STARTED_S + 2.0, []
    knows_device = rng.uniform() < 0.8
    for step in range(num_steps):
        step_time_s = float(rng.uniform(0.05, 0.4))
        end_time_s += step_time_s
        records.append(
            step_record(
                step=step,
                end_time_s=end_time_s,
                step_time_s=step_time_s,
                data_wait_s=step_time_s * float(rng.uniform()),
                device_time_s=step_time_s * float(rng.uniform()) if knows_device else None,
            )
        )
    return records


@pytest.mark.parametrize("num_ranks", [1, 2, 8])
@given(num_steps=st.integers(1, 60), seed=st.integers(0, 2**32), quota=st.booleans())
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_view_of_a_run_tells_the_numbers_of_its_result(
    tmp_path_factory: pytest.TempPathFactory,
    num_ranks: int,
    num_steps: int,
    seed: int,
    quota: bool,  # noqa: FBT001  drawn
) -> None:
    root = tmp_path_factory.mktemp("runs")
    folder = write_run_folder(root, unequal_ranks(num_ranks, num_steps, seed, quota=quota))
    run = read_run(folder)
    comparison = compare_runs([run], catalog=Catalog.load(), created="now", machine={})
    (result,) = comparison.clusters

    # the dashboard, a saved run
    shown = take_snapshot(folder).info.summary
    assert shown is not None
    assert shown.steps == result.steps
    assert (shown.warm_up_steps,) == result.warm_up_steps
    assert vars(shown.step_time_s) == result.step_time_s.model_dump()
    assert shown.data_wait_fraction == result.data_wait_fraction
    assert shown.device_utilization == result.utilization.device
    assert shown.cpu == result.utilization.cpu

    # the list, a comparison as it is followed, the command line, rules, figures
    assert listed_step_time_s(root, run) == result.step_time_s.mean
    seen = set_up_estimate([followed(root, run)], run.job)
    assert seen.steps == result.steps
    assert seen.step_time_s is not None
    assert seen.step_time_s.mean == result.step_time_s.mean
    assert seen.data_wait_fraction == result.data_wait_fraction
    assert seen.utilization == result.utilization
    launch = measured_launch(run)
    assert launch is not None
    told, observed = summarize(run), Observation(job=run.job, measured=launch)
    assert told.steps == result.steps
    assert told.mean_step_time_s == observed.step_time_s == result.step_time_s.mean
    assert told.data_wait_fraction == observed.data_wait_fraction == result.data_wait_fraction
    assert told.device_utilization == result.utilization.device
    drawn = measured_step_times(launches_of(result, [run]))
    assert drawn.tolist() == sorted(launch.step_time_s.tolist())


@given(
    num_ranks=st.sampled_from([1, 2, 8]),
    num_steps=st.integers(1, 20),
    seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=3, unique=True),
    is_emulated=st.booleans(),
)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_live_table_tells_the_bill_and_the_batches_of_the_result(
    tmp_path_factory: pytest.TempPathFactory,
    num_ranks: int,
    num_steps: int,
    seeds: list[int],
    is_emulated: bool,  # noqa: FBT001  drawn
) -> None:
    root = tmp_path_factory.mktemp("runs")
    emulation = Emulation() if is_emulated else None
    spread = Distribution(pipeline=num_ranks) if num_steps % 2 else None
    runs = []
    for seed in seeds:
        run = unequal_ranks(num_ranks, num_steps, seed, quota=True)
        runs.append(
            replace(
                run,
                job=run.job.model_copy(update={"emulation": emulation, "distribution": spread}),
                ended_s=STARTED_S + 30 + seed % 7,
            )
        )
    catalog, job = Catalog.load(), runs[0].job
    comparison = compare_runs(runs, catalog=catalog, created="now", machine={})
    (result,) = comparison.clusters

    price = catalog.usd_per_hour(job.cluster)
    launches = [followed(root, run) for run in runs]
    seen = set_up_estimate(launches, job, usd_per_hour=price)

    assert (seen.batches, seen.dataloader) == (result.batches, result.dataloader)
    assert seen.bill == result.bill
    of_bill = {name: one for name, one in result.intervals.items() if name.startswith("bill.")}
    assert seen.intervals == of_bill
    assert {"bill.startup_s", "bill.steps_usd", "bill.end_s"} <= of_bill.keys()
    live = {row.label: row.cells for row in comparison_rows(SetUpsSoFar(clusters=(seen,)))}
    final = {row.label: row.cells for row in comparison_rows(comparison)}
    labels = {TIME_LABEL, COST_LABEL}
    labels |= {BATCHES_LABEL, DATALOADER_LABEL} if result.batches else set()
    for label in labels:
        assert live[label] == final[label]


def test_a_launch_that_runs_tells_its_bill_and_its_batches_so_far(tmp_path: Path) -> None:
    run = unequal_ranks(1, 12, 7, quota=True)
    run = replace(run, state="InProgress", loader={"algo-1-rank0": [loader_record("local", 3)]})
    folder = write_run_folder(tmp_path, run)
    launch = FollowedLaunch(
        LaunchedRun(job_name=folder.job_name, label="several", round=1),
        RunFollower(folder, NOBODY),
        set_up=0,
    )
    launch.look()

    seen = set_up_estimate([launch], run.job, usd_per_hour=5.0)
    rows = {row.label: row.cells for row in comparison_rows(SetUpsSoFar(clusters=(seen,)))}

    begun, lasted, ended = rows[TIME_LABEL][0]
    assert begun.startswith("start-up 2")
    assert lasted.startswith("steps ")
    assert ended == "end unknown"
    assert rows[BATCHES_LABEL] == (("3 (100 %), dnn_group", "0 (0 %), data_group"),)
    assert rows[DATALOADER_LABEL] == (("smtc_lab's",),)
    with RecordWriter(folder.record_files()[0]) as writer:
        writer.append(loader_record("torch", 4))
    set_state(folder, "Completed", run=run)
    while not launch.is_over:
        launch.look()
    seen = set_up_estimate([launch], run.job, usd_per_hour=5.0)
    assert seen.batches == {"dnn_group": 7, "data_group": 0}
    assert seen.dataloader == "torch"
    assert seen.bill is not None
    assert seen.bill.end_s is not None


def test_environments_are_a_row_of_the_table_where_they_differ() -> None:
    jobs = [
        TrainingJob(entry_point="train.py", cluster=Cluster.parse(f"{name}@here=local:1"))
        for name in ("one", "two")
    ]
    estimates = [set_up_estimate([], job) for job in jobs]

    def rows(*names: str) -> dict[str, object]:
        told = SetUpsSoFar(clusters=with_result(estimates, None, names))
        return {row.label: row.cells for row in comparison_rows(told)}

    assert rows("", "torch-2.9")["Python environment"] == (("today",), ("torch-2.9",))
    assert "Python environment" not in rows("torch-2.9", "torch-2.9")


def listed_step_time_s(root: Path, run: RunRecords) -> float | None:
    folder = write_run_folder(root / "listed", run)
    listed = ListedRun(folder.path)
    listed.look({})
    listed.look_at_steps()
    return listed.row["step_time_s"]


def followed(root: Path, run: RunRecords) -> FollowedLaunch:
    folder = write_run_folder(root / "followed", run)
    launched = LaunchedRun(job_name=folder.job_name, label="several", round=1)
    launch = FollowedLaunch(launched, RunFollower(folder, NOBODY), set_up=0)
    while not launch.is_over:
        launch.look()
    return launch
