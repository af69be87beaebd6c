"""Whole runs of sharded models: what each collective takes, and the bytes of each rank."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.communication.collectives import (
    ring_all_reduce_s,
    ring_gather_s,
    ring_sent_bytes,
    sharded_bytes,
)
from smtc_lab.metrics.records.records import (
    ALL_REDUCE,
    BACKWARD_GATHER,
    FORWARD_GATHER,
    REDUCE_SCATTER,
)
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.metrics.records.records import BucketRecord

    Start = Callable[..., Run]

STEPS = 6
LAYER_BYTES = 4 * 4 * (256 * 256 + 256)
REST_BYTES = 4 * (64 * 256 + 256 + 256 * 64 + 64)

MODEL = """
    import json, os
    from pathlib import Path
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(4)]
    model = nn.Sequential(nn.Linear(64, 256), *layers, nn.Linear(256, 64))
    data = TensorDataset(torch.randn(4000, 64))
"""
UNMODIFIED = (
    MODEL
    + """
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo")
    for layer in layers:
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
"""
)
PREPARED = (
    MODEL
    + """
    import smtc_lab

    session = smtc_lab.Session()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model, optimizer = session.prepare(model, optimizer)
    loader = session.dataloader(data, batch_size=4, num_workers=0)
"""
)
BYTES = """
    from smtc_lab.machine.socket_traffic import SocketTraffic

    traffic, sent = SocketTraffic(), []
    for (batch,) in loader:
        told = traffic.look([os.getpid()])
        sent.append(None if told is None else told[1])
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        path = Path(os.environ["SM_OUTPUT_DATA_DIR"], f"rank{os.environ['RANK']}.json")
        path.write_text(json.dumps(sent))
        optimizer.step()
"""
TOTALS = """
    for (batch,) in loader:
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        total = sum(float(each.full_tensor().double().sum()) for each in model.parameters())
        path = Path(os.environ["SM_OUTPUT_DATA_DIR"], f"rank{os.environ['RANK']}.json")
        path.write_text(json.dumps(total))
        optimizer.step()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    runs = []

    def start_run(script: str, *, instances: int = 1, **values: Any) -> Run:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(script), encoding="utf-8")
        launcher = LocalLauncher(root=tmp_path / "runs")
        job = TrainingJob(
            entry_point=str(path),
            cluster=Cluster.parse(f"here=local:{instances}"),
            environment={"OMP_NUM_THREADS": "1"},
            max_steps=STEPS,
            **values,
        )
        runs.append(Run(launcher, launcher.start(launcher.plan(job), detach=False)))
        runs[-1].wait()
        assert runs[-1].status == "Completed", runs[-1].logs()
        return runs[-1]

    yield start_run
    for run in runs:
        run.stop()


def told_by(root: Path) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(root.rglob("rank?.json"))]


def of_last_step(run: Run) -> list[list[BucketRecord]]:
    """Return what each rank exchanged in the last step."""
    return [
        [each for each in records if each.step == STEPS - 1]
        for records in run.records().buckets.values()
    ]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("script", "layout"),
    [(UNMODIFIED, "data"), (PREPARED, "shard")],
    ids=["unmodified", "session"],
)
def test_the_bytes_of_each_rank_are_those_of_the_formula(
    start: Start, script: str, layout: str, ranks: int
) -> None:
    run = start(script + BYTES, distribution={layout: ranks})

    by_rank = of_last_step(run)
    assert len(by_rank) == ranks
    formula = sharded_bytes(LAYER_BYTES + REST_BYTES, ranks=ranks, gathered_once=REST_BYTES)
    for buckets in by_rank:
        assert Counter(each.collective for each in buckets) == {
            FORWARD_GATHER: 5,
            BACKWARD_GATHER: 4,
            REDUCE_SCATTER: 5,
        }
        assert {each.ranks for each in buckets} == {ranks}
        sent = sum(ring_sent_bytes(each.num_bytes, ranks=ranks) for each in buckets)
        assert sent == pytest.approx(formula, rel=0.05)
    for steps in run.records().steps.values():
        last = steps[-1]
        assert last.gathered_bytes == pytest.approx(2 * LAYER_BYTES + REST_BYTES, rel=0.05)
        assert last.comm_bytes == pytest.approx(LAYER_BYTES + REST_BYTES, rel=0.05)
        assert (last.num_buckets, last.num_syncs) == (14, 1)
        assert last.exposed_comm_s is not None
        assert last.rank_wait_s is not None
        assert 0 < last.exposed_comm_s + last.rank_wait_s < last.step_time_s
        assert last.backward_s is not None
        assert 0 < last.backward_s < last.step_time_s


def test_replicas_of_shards_learn_the_same_bits_and_each_collective_takes_what_is_declared(
    start: Start,
) -> None:
    link = EmulatedLink(
        between_gbps=0.04, between_latency_s=1e-4, inside_gbps=0.08, inside_latency_s=1e-4
    )
    options = {"instances": 2, "distribution": {"data": 2, "shard": 2}}
    plain = start(PREPARED + TOTALS, **options)
    totals = set(told_by(plain.folder.path))
    held = start(PREPARED + TOTALS, emulation=Emulation(link=link), **options)

    assert set(told_by(held.folder.path)) == totals
    assert len(totals) == 1
    for buckets in held.records().buckets.values():
        late = []
        for step in sorted({each.step for each in buckets}):
            own = [each for each in buckets if each.step == step]
            assert Counter(each.collective for each in own) == {
                FORWARD_GATHER: 5,
                BACKWARD_GATHER: 4,
                REDUCE_SCATTER: 5,
                ALL_REDUCE: 5,
            }
            took_s = sum(each.exposed_s + each.hidden_s for each in own)
            late.append(took_s / sum(map(declared_s, own)))
        # a busy machine wakes a step up later than it was told to, never sooner
        assert min(late) == pytest.approx(1, abs=0.02)


def declared_s(bucket: BucketRecord) -> float:
    """Return what a collective takes by the link of the test above."""
    if bucket.collective == ALL_REDUCE:
        # both shards of an instance are averaged at the same time, over the same card
        return ring_all_reduce_s(
            bucket.num_bytes, ranks=2, latency_s=1e-4, bytes_per_s=0.02e9 / 8
        )
    return ring_gather_s(bucket.num_bytes, ranks=2, latency_s=1e-4, bytes_per_s=0.08e9 / 8)


def test_what_is_gathered_ahead_is_hidden_and_waited_for_before_it_is_used(
    start: Start,
) -> None:
    ahead = """
        dist.barrier()
        model.unshard(async_op=True)
        until = time.monotonic() + 0.2
        while time.monotonic() < until:  # computing, for what the script knows
            pass
        optimizer.zero_grad()"""
    script = PREPARED + TOTALS.replace("\n        optimizer.zero_grad()", ahead)
    script = script.replace("import json, os", "import json, os, time")
    options = {"distribution": {"shard": 2}}
    totals = set(told_by(start(PREPARED + TOTALS, **options).folder.path))
    link = EmulatedLink(inside_gbps=0.08, inside_latency_s=1e-4, between_gbps=1)
    held = start(script, emulation=Emulation(link=link), **options)

    assert set(told_by(held.folder.path)) == totals
    for buckets in held.records().buckets.values():
        ahead_of = []
        for step in sorted({each.step for each in buckets}):
            first, *others = sorted(
                (each for each in buckets if each.step == step), key=lambda each: each.ready_s
            )
            assert first.collective == FORWARD_GATHER
            assert all(each.hidden_s < 1e-3 for each in others)
            ahead_of.append(first)
        # the ranks meet before it, and a busy machine may part them in one step or another
        assert any(each.hidden_s > 10 * each.exposed_s for each in ahead_of)
