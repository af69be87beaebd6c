"""Data workers of an emulated instance are held to one of its vCPUs each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import Dataset

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.machine.quota.members import MEMBERS_VARIABLE
from smtc_lab.machine.quota.vcpu import VCPU_VARIABLE, vcpu_text

CORES, SAMPLE_S, SAMPLES = 0.05, 0.002, 4
LEAST_S = (SAMPLES - 1) * SAMPLE_S / CORES / 2
"""Half of what a vCPU needs for the samples behind the first, which may be seen late; a core
would need a twentieth."""

SCRIPT = """
import sys, time
from smtc_lab.dataservice.serving.torch_workers import hold_workers
from torch.utils.data import DataLoader
from tests.dataservice.test_vcpu_workers import SAMPLES, Burning

if __name__ == "__main__":
    hold_workers()
    loader = DataLoader(
        Burning(), batch_size=None, num_workers=1, multiprocessing_context=sys.argv[1]
    )
    batches = [(batch, time.perf_counter()) for batch in loader]
    print(*[batch for batch, _ in batches], batches[-1][1] - batches[0][1])
"""


class Burning(Dataset[float]):
    """Samples of a known CPU time."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> float:
        until_s = time.thread_time() + SAMPLE_S
        while time.thread_time() < until_s:
            pass
        return float(index)


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VCPU_VARIABLE, vcpu_text(CORES, 4, 1))


def seconds(**options: Any) -> float:
    """Return the time from the first of all samples to the last one."""
    loader: DataLoader[float] = DataLoader(Burning(), batch_size=None, **options)
    try:
        batches = [(batch, time.perf_counter()) for batch in loader]
    finally:
        loader.close()
    assert [batch for batch, _ in batches] == [0.0, 1.0, 2.0, 3.0]
    return batches[-1][1] - batches[0][1]


@pytest.mark.usefixtures("emulated")
def test_a_data_worker_of_ours_is_a_vcpu() -> None:
    assert seconds(num_workers=1) >= LEAST_S


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_data_worker_of_torchs_is_a_vcpu_however_it_starts_and_joins_the_quota(
    method: str, tmp_path: Path
) -> None:
    script, members = tmp_path / "script.py", tmp_path / "members"
    script.write_text(SCRIPT, encoding="utf-8")
    members.touch()
    here = str(Path(__file__).parents[2])

    done = subprocess.run(
        [sys.executable, str(script), method],
        env={**os.environ, MEMBERS_VARIABLE: str(members), "PYTHONPATH": here},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    *samples, took_s = map(float, done.stdout.split())
    assert samples == [0.0, 1.0, 2.0, 3.0]
    assert took_s >= LEAST_S
    assert members.read_text().isdigit()
