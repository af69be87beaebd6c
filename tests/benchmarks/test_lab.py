from __future__ import annotations

from typing import Any

from notebooks.benchmarks.lab.figures import LabRound, lab_figures
from notebooks.benchmarks.lab.scenarios import Watched


def watched(*, cpu_fraction: float) -> Watched:
    latency_s = tuple(0.001 * ms for ms in range(1, 101))
    return Watched(latency_s=latency_s, cpu_fraction=cpu_fraction, bytes_per_s=0.0)


def lab_round(**times_s: Any) -> LabRound:
    one = watched(cpu_fraction=0.05)
    return LabRound(listed=one, one=one, all=watched(cpu_fraction=0.25), **times_s)


def test_figures_are_told_in_milliseconds_and_percent_with_their_goals() -> None:
    rounds = [lab_round(load_s=0.02, first_list_s=0.4, list_s=0.05)] * 6

    figures = {each.name: each for each in lab_figures(rounds, num_ended=9, num_live=3)}

    first = figures["9 runs listed, first tab of a server"]
    assert (first.value, first.unit, first.goal, first.holds) == (400, "ms", 300, False)
    cpu = figures["3 live runs in the list: server's CPU"]
    assert (cpu.value, cpu.goal, cpu.holds) == (5, 10, True)
    assert figures["3 live runs with all charts: server's CPU"].goal is None
    late = figures["1 run with all charts: step's end to bytes, p95"]
    assert 95 <= late.value <= 96
    assert late.holds
