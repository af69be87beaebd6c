"""Reducers: the same bits on every rank, whoever of them dies, and nothing for strangers."""

from __future__ import annotations

import os
import queue
import secrets
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
import torch

from smtc_lab.errors import HandshakeError
from smtc_lab.parallel.reduce import door, reduction
from smtc_lab.parallel.reduce.door import knock
from smtc_lab.parallel.reduce.reducer import Reducer
from smtc_lab.parallel.reduce.reduction import Reduction
from smtc_lab.parallel.reduce.shares import CHUNK_BYTES, chunks_of, next_server
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = secrets.token_bytes(32)
RANKS = 3


class Cluster:
    """Reducers in processes of their own, and trainers in this one."""

    def __init__(self, stack: ExitStack, *, reducers: int, ranks: int = RANKS) -> None:
        self.events: list[str] = []
        self.processes = [self._reducer(stack) for _ in range(reducers)]
        own = [Reducer("127.0.0.1", 0, SECRET) for _ in range(ranks)]
        for reducer in own:
            thread = reducer.start()
            stack.callback(thread.join, PATIENCE_S)
            stack.callback(reducer.stop)
        addresses = [address for _, address in self.processes]
        addresses += [reducer.address for reducer in own]
        self.trainers = [
            Reduction(
                {
                    server: knock(address, SECRET, rank=rank, ranks=ranks)
                    for server, address in enumerate(addresses)
                },
                rank=rank,
                ranks=ranks,
                reducers=reducers,
                on_event=self.events.append,
            )
            for rank in range(ranks)
        ]
        for trainer in self.trainers:
            stack.callback(trainer.close)

    def _reducer(self, stack: ExitStack) -> tuple[subprocess.Popen[str], tuple[str, int]]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "smtc_lab.parallel.reduce", "127.0.0.1", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.callback(process.wait, PATIENCE_S)
        stack.callback(process.kill)
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stack.callback(stream.close)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(SECRET.hex() + "\n")
        process.stdin.flush()
        process.stdout.readline()
        return process, ("127.0.0.1", port)

    def averaged(self, buckets: list[torch.Tensor]) -> list[torch.Tensor]:
        futures = [
            trainer.average(bucket)
            for trainer, bucket in zip(self.trainers, buckets, strict=True)
        ]
        return [future.wait() for future in futures]


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no reducer for lost that is slow for want of CPU."""
    monkeypatch.setattr(reduction, "SILENCE_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(door, "LIMIT_S", PATIENCE_S)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as one:
        yield one


def gradients(seed: int, *, size: int = 200_001) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    return [torch.randn(size) for _ in range(RANKS)]


def in_rank_order(buckets: list[torch.Tensor]) -> torch.Tensor:
    total = buckets[0].clone()
    for bucket in buckets[1:]:
        total += bucket
    return total.mul_(1 / len(buckets))


@pytest.mark.parametrize("reducers", [0, 1, 3, 5])
def test_every_rank_gets_the_sum_in_rank_order_to_the_bit(
    stack: ExitStack, reducers: int
) -> None:
    cluster = Cluster(stack, reducers=reducers)

    for seed in range(3):
        buckets = gradients(seed)
        wanted = in_rank_order(buckets)
        for values in cluster.averaged(buckets):
            assert torch.equal(values, wanted)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_types_are_averaged_alike(stack: ExitStack, dtype: torch.dtype) -> None:
    cluster = Cluster(stack, reducers=1)
    buckets = [each.to(dtype) for each in gradients(0, size=1001)]
    wanted = sum(each.double() for each in buckets) / RANKS

    first, *others = cluster.averaged(buckets)

    assert all(torch.equal(first, other) for other in others)
    torch.testing.assert_close(first.double(), wanted, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_reducer_that_dies_or_hangs_is_gone_on_without(
    stack: ExitStack, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == signal.SIGSTOP:  # it is silent, and nothing else tells
        monkeypatch.setattr(reduction, "SILENCE_LIMIT_S", 3.0)
    cluster = Cluster(stack, reducers=3)
    cluster.averaged(gradients(0))
    buckets = gradients(1, size=4_000_001)
    wanted = in_rank_order(buckets)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cluster.averaged, buckets)
        os.kill(cluster.processes[1][0].pid, how)
        values = waiting.result(timeout=PATIENCE_S)

    assert all(torch.equal(each, wanted) for each in values)
    again = gradients(2)
    wanted = in_rank_order(again)
    assert all(torch.equal(each, wanted) for each in cluster.averaged(again))
    assert len(cluster.events) == RANKS
    assert "reducer 1 of 3 is lost" in cluster.events[0]


def test_trainers_go_on_by_themselves_when_every_reducer_is_gone(stack: ExitStack) -> None:
    cluster = Cluster(stack, reducers=2)
    for process, _ in cluster.processes:
        process.kill()

    buckets = gradients(3)
    wanted = in_rank_order(buckets)

    assert all(torch.equal(each, wanted) for each in cluster.averaged(buckets))


def test_a_stranger_is_let_in_nowhere(stack: ExitStack) -> None:
    said: queue.Queue[str] = queue.Queue()
    reducer = Reducer("127.0.0.1", 0, SECRET, on_event=said.put)
    thread = reducer.start()
    stack.callback(thread.join, PATIENCE_S)
    stack.callback(reducer.stop)

    with pytest.raises(HandshakeError, match="it holds another secret"):
        knock(reducer.address, b"x" * 32, rank=0, ranks=2)

    assert "did not prove that it holds this job's secret" in said.get(timeout=PATIENCE_S)


@pytest.mark.parametrize(("ranks", "reducers"), [(4, 4), (4, 2), (2, 1), (3, 0), (2, 5)])
@pytest.mark.parametrize("num_bytes", [4, 100, 8_000_000, 1_234_564])
def test_chunks_cover_a_bucket_once_and_in_the_declared_shares(
    num_bytes: int, ranks: int, reducers: int
) -> None:
    chunks = chunks_of(num_bytes, ranks=ranks, reducers=reducers)

    ends = [0, *(chunk.end for chunk in chunks)]
    assert [chunk.begin for chunk in chunks] == ends[:-1]
    assert ends[-1] == num_bytes
    assert all(0 < chunk.end - chunk.begin <= CHUNK_BYTES + 8 for chunk in chunks)
    assert all(chunk.begin % 4 == 0 for chunk in chunks)


def test_where_a_chunk_goes_depends_on_who_is_lost_and_not_on_the_order() -> None:
    for chunk in chunks_of(8_000_000, ranks=3, reducers=3):
        after = next_server(chunk, frozenset({0, 1}), ranks=3, reducers=3)
        assert after == (chunk.server if chunk.server == 2 else 2)
