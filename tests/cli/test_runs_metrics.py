"""``smtc-lab runs show`` of a run whose script logged its training."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.metric_record import MetricRecord, kept_value
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


def logged_run(root: Path, **values: list[float]) -> None:
    folder = write_run_folder(root, run_records([1.0, *[0.2] * 30], job_name="logged"))
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for name, column in values.items():
            for step, value in enumerate(column):
                number, text = kept_value(value)
                writer.append(
                    MetricRecord(step=step, time_s=1.0, name=name, value=number, text=text)
                )
    opened(folder)


def test_a_run_shows_last_least_and_greatest_of_each_metric(
    smtc_lab: Callable[..., Any], tmp_path: Path
) -> None:
    logged_run(tmp_path, loss=[0.5, 0.123456, 0.25], **{"bad\x1b[2J": [1.0, math.nan]})

    shown = smtc_lab("runs", "show", "logged", "--runs-dir", tmp_path)

    assert shown.exit_code == 0, shown.err
    lines = shown.out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  logged"))
    assert lines[place].split() == ["logged", "metric", "last", "least", "greatest", "values"]
    assert lines[place + 1].split() == ["bad\ufffd[2J", "nan", "1", "1", "2"]
    assert lines[place + 2].split() == ["loss", "0.25", "0.12346", "0.5", "3"]
    told = json.loads(smtc_lab("runs", "show", "logged", "--json", "--runs-dir", tmp_path).out)
    assert told["metrics"] == {
        "bad\ufffd[2J": {
            "last": "nan",
            "least": 1.0,
            "greatest": 1.0,
            "values": 2,
        },
        "loss": {
            "last": 0.25,
            "least": 0.123456,
            "greatest": 0.5,
            "values": 3,
        },
    }


def test_of_many_metrics_twenty_are_shown(smtc_lab: Callable[..., Any], tmp_path: Path) -> None:
    logged_run(tmp_path, **{f"loss{number:02}": [1.0] for number in range(23)})

    shown = smtc_lab("runs", "show", "logged", "--runs-dir", tmp_path).out

    assert "loss19" in shown
    assert "loss20" not in shown
    assert "and 3 more metrics" in shown
