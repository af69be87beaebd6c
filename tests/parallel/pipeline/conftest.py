"""Cut models in one process, and torch that can run their schedules."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtc_lab.parallel.pipeline.schedules import RUN_HERE

RUN_NONE = {"test_partition.py", "test_schedules.py", "test_clock_on_gpu.py"}
"""What cuts a model in theory, the refusal itself, and a clock without a schedule of torch's;
every other file runs a pipeline."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if RUN_HERE:
        return
    reason = "pipelines refuse this torch, see test_schedules.py"
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in RUN_NONE:
            item.add_marker(pytest.mark.skip(reason))
