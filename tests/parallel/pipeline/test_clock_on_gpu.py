"""When a GPU computed what, by its own clock; a chunk that sleeps stands in for torch's."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from smtc_lab.metrics.records.pipeline_records import BACKWARD, FORWARD
from smtc_lab.parallel.pipeline.clock import StageClock

pytestmark = pytest.mark.gpu

CYCLES = 20_000_000
MICROBATCHES = 3
HOST_S = 5e-3
"""What the host may need between two kernels."""


def test_a_gpu_tells_when_it_computed_a_microbatch_and_when_it_waited() -> None:
    computed: list[Any] = []
    exposed: list[Any] = []

    def busy(cycles: int, kept: list[Any]) -> None:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.cuda._sleep(cycles)
        end.record()
        kept.append((begin, end))

    def compute(_microbatch: int, **_options: bool) -> None:
        busy(CYCLES, computed)

    def run() -> None:
        for microbatch in range(MICROBATCHES):
            chunk.forward_one_chunk(microbatch)
            busy(2 * CYCLES, exposed)  # a transfer beside which nothing is computed
            chunk.backward_one_chunk(microbatch)

    names = ("forward_one_chunk", "backward_one_chunk", "backward_weight_one_chunk")
    chunk = SimpleNamespace(**dict.fromkeys(names, compute), dw_builder=None)
    schedule = SimpleNamespace(step=run)
    records: list[Any] = []
    StageClock(
        built=SimpleNamespace(chunks={0: chunk}, schedule=schedule),
        microbatches=MICROBATCHES,
        device=torch.device("cuda"),
        step=lambda: 0,
        record=records.append,
    ).start()
    torch.cuda._sleep(1)
    began_s = time.time()
    schedule.step()
    ended_s = time.time()

    order = [(kind, each) for each in range(MICROBATCHES) for kind in (FORWARD, BACKWARD)]
    assert [(record.kind, record.microbatch) for record in records] == order
    took_s = [record.end_time_s - record.begin_time_s for record in records]
    gaps_s = [
        backward.begin_time_s - forward.end_time_s
        for forward, backward in zip(records[::2], records[1::2], strict=True)
    ]
    for told_s, events in ((took_s, computed), (gaps_s, exposed)):
        own_s = [begin.elapsed_time(end) / 1e3 for begin, end in events]
        assert told_s == pytest.approx(own_s, abs=HOST_S)
        assert min(own_s) > HOST_S, "else nothing is told apart"
    assert began_s - 1e-3 <= records[0].begin_time_s
    assert records[-1].end_time_s <= ended_s + 1e-3
