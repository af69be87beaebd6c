"""A declared network holds back what stages send each other, and changes nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.metrics.communication.collectives import ring_all_reduce_s
from smtc_lab.metrics.records.records import ALL_REDUCE
from smtc_lab.parallel.link.pace import Pace
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from tests.launchers.test_pipeline_runs import SCRIPT, said
from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.pipeline.times import TimedStep
    from smtc_lab.spec.distribution import Schedule
    from smtc_lab.spec.job import TrainingJob

STEP_S = 0.08
LATENCY_S = 0.02
SENT_BYTES = 4 * 2 * 32
GBPS = 8 * SENT_BYTES / 0.04 / 1e9
"""With the latency each transfer takes 60 ms."""

CLOCKS_S = 5e-3
"""Clocks of ranks are set when the model is cut, on a machine that may be busy."""


def moments_s(step: TimedStep) -> dict[tuple[str, int, int], tuple[float, float]]:
    return {
        (one.kind, one.stage, one.microbatch): (one.begin_s, one.end_s)
        for one in step.computations
    }


@pytest.mark.timeout(400)
@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "interleaved1f1b"])
def test_stages_receive_when_the_declared_network_would_have_brought_it(
    schedule: Schedule, make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    stages = 4 if schedule.startswith("inter") else 2
    runs = []
    for link in (None, EmulatedLink(inside_gbps=GBPS, inside_latency_s=LATENCY_S)):
        job = make_job(
            SCRIPT,
            cluster="here=local",
            emulation=Emulation(device_step_time_s=STEP_S, link=link),
            distribution=Distribution(pipeline=2, microbatches=4, schedule=schedule),
        )
        runs.append(start(job))
        runs[-1].wait(timeout_s=150)
    plain, held = runs

    assert [one["losses"] for one in said(held)] == [one["losses"] for one in said(plain)]
    times, planned = held.pipeline, plain.pipeline
    assert times is not None
    assert planned is not None
    sent_s = {one.stage: LATENCY_S + 8e-9 * one.sent_bytes / GBPS for one in times.stages[:-1]}
    assert sent_s == {stage: pytest.approx(0.06) for stage in range(stages - 1)}
    for step in times.steps:
        found = moments_s(step)
        first_s = found["forward", 0, 0][1] - CLOCKS_S
        for part in range(4):
            for stage in range(stages - 1):
                came_s = found["forward", stage, part][1] + sent_s[stage]
                assert found["forward", stage + 1, part][0] >= came_s - CLOCKS_S
                back_s = found["backward", stage + 1, part][1] + sent_s[stage]
                assert found["backward", stage, part][0] >= back_s - CLOCKS_S
            # what a card sends at once queues
            assert found["forward", 1, part][0] >= first_s + (part + 1) * sent_s[0]
    expected, without = times.expected, planned.expected
    assert expected is not None
    assert without is not None
    assert expected.step_s >= without.step_s + 2 * sent_s[0], "the first and the last transfer"
    assert all(step.window_s >= expected.step_s - CLOCKS_S for step in times.steps)
    for rank in times.ranks:
        assert rank.idle_s is not None
        assert rank.wait_s is not None
        # nothing can be done beside the first transfer of a step, or the last one
        assert rank.idle_s - rank.wait_s >= sent_s[0] - CLOCKS_S


@pytest.mark.timeout(400)
def test_what_replicas_of_a_pipeline_average_is_recorded_and_held_back(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    runs = []
    for link in (None, EmulatedLink(inside_gbps=1e-3, inside_latency_s=1e-3)):
        job = make_job(
            SCRIPT,
            cluster="here=local",
            emulation=Emulation(link=link),
            distribution=Distribution(pipeline=2, data=2, microbatches=2, pins={"4": 0}),
        )
        runs.append(start(job))
        runs[-1].wait(timeout_s=150)
    plain, held = runs

    assert [one["losses"] for one in said(held)] == [one["losses"] for one in said(plain)]
    parameters = (288 + 2 * 1056, 132)
    for run in runs:
        records = run.records()
        assert len(records.buckets) == 4
        for name, buckets in records.buckets.items():
            first = int(name.removeprefix("algo-1-rank")) < 2
            count, values = (6, parameters[0]) if first else (2, parameters[1])
            steps = records.steps[name]
            assert [each.step for each in buckets] == [each.step for each in steps]
            for step, bucket in zip(steps, buckets, strict=True):
                assert (bucket.collective, bucket.ranks) == (ALL_REDUCE, 2)
                # behind the gradients stands whether there are any
                assert bucket.num_bytes == step.comm_bytes == 4 * (values + count)
                assert bucket.ready_s > 0
                assert bucket.hidden_s == 0
                assert step.exposed_comm_s == bucket.exposed_s > 0
                assert (step.num_buckets, step.num_syncs) == (1, 1)
                assert (step.gathered_bytes, step.backward_s) == (None, None)
                if run is held:
                    declared_s = ring_all_reduce_s(
                        bucket.num_bytes, ranks=2, latency_s=1e-3, bytes_per_s=1e6 / 8
                    )
                    assert bucket.exposed_s >= declared_s - 1e-6


def test_a_message_takes_its_latency_and_its_bytes_and_they_queue() -> None:
    wire = DeclaredWire(latency_s=0.5, bytes_per_s=100.0)
    link = LinkDeclaration(inside=None, between=wire)
    pace = Pace(link, world_size=2, local_world_size=1, rings=2)

    assert pace.send_s(100) == 0.5 + 2.0
    assert pace.reserve(10.0, pace.send_s(100)) == 12.5
    assert pace.reserve(11.0, pace.send_s(0)) == 13.0
    assert not Pace(link, world_size=2, local_world_size=2).is_declared


FAR = """
import time
from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.parallel.link.pace import Pace
from smtc_lab.parallel.link.transfers import HeldTransfers
from tests.parallel.pipeline.ranks import join, made

join()
losses, took_s = [], []
for latency_s in (0.0, 0.05):
    wire = DeclaredWire(latency_s=latency_s, bytes_per_s=1e12)
    pace = Pace(LinkDeclaration(inside=None, between=wire), world_size=2, local_world_size=1)
    pipeline, (inputs, targets), _ = made("language", "1f1b", seed=0)

    def started(built):
        HeldTransfers(
            built.chunks, num_stages=2, microbatches=8, pace=lambda rank: pace, board=None
        ).start(built.schedule)

    pipeline.on_built = started
    pipeline.step(inputs, targets)
    began_s = time.perf_counter()
    losses.append(float(pipeline.step(inputs, targets)))
    took_s.append(time.perf_counter() - began_s)
print(json.dumps({"losses": losses, "took_s": took_s}))
"""


@pytest.mark.timeout(150)
def test_ranks_of_several_machines_count_a_transfer_from_its_arrival(tmp_path: Path) -> None:
    prelude = "import json, logging\nlogging.disable(logging.CRITICAL)\n"

    for one in start_ranks(FAR, prelude=prelude, data=2, folder=tmp_path):
        assert one["losses"][0] == one["losses"][1]
        assert one["took_s"][1] >= 8 * 0.05, "each rank receives eight times"
