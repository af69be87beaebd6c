"""How far a launch is, by what its ranks have recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.study.watched_run import Progress, StepCounter
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = Progress(
    launch=1,
    launches=1,
    cluster="two ranks",
    steps=0,
    max_steps=20,
    elapsed_s=0.0,
    mean_step_time_s=None,
)


def test_two_ranks_take_no_more_steps_than_the_one_that_is_furthest(tmp_path: Path) -> None:
    records = run_records([0.2] * 20, num_ranks=2)
    behind = {**records.steps, "algo-1-rank1": records.steps["algo-1-rank1"][:15]}
    folder = write_run_folder(tmp_path, replace(records, steps=behind))

    told = StepCounter(opened(folder)).progress(BEGIN, 5.0)

    assert (told.steps, told.max_steps, told.elapsed_s) == (20, 20, 5.0)
    assert told.mean_step_time_s == pytest.approx(0.2)
