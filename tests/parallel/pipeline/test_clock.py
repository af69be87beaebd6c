"""Which steps of a pipeline are timed, and what a rank tells of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.records.pipeline_records import BACKWARD, FORWARD, WEIGHT
from smtc_lab.parallel.pipeline.clock import SampledSteps
from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from pathlib import Path

PRELUDE = "import json, logging\nlogging.disable(logging.CRITICAL)\n"

BODY = """
import time
from dataclasses import astuple
from smtc_lab.parallel.pipeline.clock import StageClock
from tests.parallel.pipeline.ranks import join, made

join()
said = {}
for schedule, device_s in (("1f1b", 0.03), ("zbvzerobubble", 0.03)):
    pipeline, (inputs, targets), optimizer = made("language", schedule, seed=0)
    number, records, overruns = 0, [], []

    def started(built):
        StageClock(
            built=built,
            microbatches=8,
            device=pipeline.device,
            step=lambda: number,
            record=records.append,
            device_s={stage: device_s for stage in built.chunks},
            on_overrun=lambda *told: overruns.append(told),
        ).start()

    pipeline.on_built = started
    began_s = time.time()
    for number in (0, 1):
        pipeline.step(inputs, targets)
        pipeline.step(inputs, targets)  # an accumulation: one step of two batches
        optimizer.step()
        optimizer.zero_grad()
    said[schedule] = {
        "records": [astuple(one) for one in records],
        "within": [began_s, time.time()],
    }
print(json.dumps(said))
"""


def test_a_million_steps_leave_a_few_hundred_and_the_first_are_all_there() -> None:
    sampled = SampledSteps()
    timed = [step for step in range(1_000_000) if sampled.begin()]

    assert timed[:7] == [0, 1, 2, 3, 4, 10, 20]
    assert 300 < len(timed) < 1_000
    gaps = [after - before for before, after in pairwise(timed[5:])]
    assert sorted(gaps) == gaps, "they only become rarer"


@pytest.mark.timeout(150)
def test_ranks_tell_each_computation_and_emulated_devices_take_their_time(
    tmp_path: Path,
) -> None:
    ranks = start_ranks(BODY, prelude=PRELUDE, data=2, folder=tmp_path)

    for said in ranks:
        for schedule, stages in (("1f1b", 1), ("zbvzerobubble", 2)):
            told = said[schedule]
            counts = Counter((step, kind) for step, _, _, kind, _, _ in told["records"])
            kinds = {FORWARD, BACKWARD} | ({WEIGHT} if stages == 2 else set())
            assert {kind for _, kind in counts} == kinds
            for step in (0, 1):
                assert counts[step, FORWARD] == counts[step, BACKWARD] == 2 * 8 * stages
            numbers = {part for step, _, part, *_ in told["records"] if step == 1}
            assert numbers == set(range(16)), "the second batch of a step counts on"
            began_s, ended_s = told["within"]
            of_one: Counter[tuple[int, int, int]] = Counter()
            for step, stage, part, kind, from_s, until_s in told["records"]:
                assert began_s - 1e-3 <= from_s <= until_s <= ended_s + 1e-3
                if kind == FORWARD:
                    assert until_s - from_s >= 0.01 - 1e-6
                else:
                    of_one[step, stage, part] += round(1e6 * (until_s - from_s))
            assert min(of_one.values()) >= 0.02e6 - 10, "whichever way it is split"
