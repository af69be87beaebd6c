from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.gpu import GpuProbe
from smtc_lab.machine.quota.throttling import Throttling
from smtc_lab.metrics.records.records import SystemSample
from smtc_lab.runtime.cpu.system_sampler import SystemSampler
from smtc_lab.store.reader import read_records
from smtc_lab.store.writer import RecordWriter
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from pathlib import Path


class CountedTree:
    """A tree without processes, and its clock: half a second passes from look to look.

    It uses a quarter of a core of a quota of half a core, and is always at its limit.
    """

    name = "counted"

    def __init__(self) -> None:
        self.now_s = 100.0

    def join(self) -> None: ...

    def limit(self, cores: float) -> None: ...

    def pids(self) -> list[int]:
        return []

    def used_s(self) -> float:
        return self.now_s / 4

    def throttling(self) -> Throttling:
        seen = Throttling(at_limit_s=self.now_s)
        self.now_s += 0.5  # it is what a look asks for last
        return seen

    def close(self) -> None: ...


def samples_in(path: Path) -> list[SystemSample]:
    return read_records(path, SystemSample)[0]


def test_samples_tell_what_was_used_and_asked_for_in_each_interval(tmp_path: Path) -> None:
    path, tree = tmp_path / "algo-1-system.sqlite", CountedTree()
    with RecordWriter(path) as writer:
        sampler = SystemSampler(tree, writer, interval_s=0.02, now=lambda: tree.now_s)
        wait_until(lambda: len(samples_in(path)) >= 2, what="two samples")
        sampler.quota_applies(0.5)
        before = len(samples_in(path))
        wait_until(lambda: len(samples_in(path)) >= before + 3, what="three more")
        sampler.close()
        sampler.close()

    samples = samples_in(path)
    assert samples[0].cpu_quota_cores is None
    assert samples[-1].cpu_quota_cores == 0.5
    assert {(sample.interval_s, sample.cpu_used_s) for sample in samples} == {(0.5, 0.125)}
    # of a quota of 0.25 s it has saved at most one period's, 0.05 s, which it did not want
    asked_s = [sample.cpu_asked_s for sample in samples if sample.cpu_quota_cores is not None]
    assert asked_s[0] == pytest.approx(0.2)
    assert set(asked_s[1:]) == {0.25}
    ends_s = [sample.time_s for sample in samples]
    assert ends_s == sorted(ends_s)


def test_the_end_takes_a_last_sample(tmp_path: Path) -> None:
    path = tmp_path / "algo-1-system.sqlite"
    with RecordWriter(path) as writer:
        SystemSampler(CountedTree(), writer, interval_s=600).close()

    assert len(samples_in(path)) == 1
    assert "smtc-sampler" not in [thread.name for thread in threading.enumerate()]


def test_a_writer_that_cannot_write_ends_the_sampling_quietly(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "algo-1-system.sqlite")
    sampler = SystemSampler(CountedTree(), writer, interval_s=0.01)
    writer._connection.close()  # as bad as a disk that is full

    wait_until(lambda: not sampler._thread.is_alive(), what="the end of the sampling")
    sampler.close()


@pytest.mark.gpu
def test_a_busy_gpu_is_recorded_with_its_memory(tmp_path: Path) -> None:
    import torch

    path = tmp_path / "algo-1-system.sqlite"
    held = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    matrix = torch.randn(4096, 4096, device="cuda")

    def is_seen_busy() -> bool:
        end_s = time.perf_counter() + 0.3
        while time.perf_counter() < end_s:
            matrix @ matrix
            torch.cuda.synchronize()
        seen = [sample.gpu_utilization_fraction or 0.0 for sample in samples_in(path)]
        return max(seen, default=0.0) * GpuProbe().count > 0.5

    with RecordWriter(path) as writer:
        sampler = SystemSampler(CountedTree(), writer, interval_s=0.1)
        wait_until(is_seen_busy, what="a busy GPU in the records")
        sampler.close()

    last = samples_in(path)[-1]
    assert 0 <= last.gpu_utilization_fraction <= 1
    assert last.gpu_memory_bytes >= held.nbytes + matrix.nbytes
