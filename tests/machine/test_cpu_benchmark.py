from __future__ import annotations

import pytest

from smtc_lab.machine.cpu_benchmark import BenchmarkError, cpu_rate


def test_the_cpu_benchmark_counts_work_on_every_core() -> None:
    assert cpu_rate(num_cores=2, seconds=0.03) > 0


def test_a_cpu_benchmark_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")

    with pytest.raises(BenchmarkError, match="gave no figure"):
        cpu_rate(num_cores=1, seconds=0.03)
