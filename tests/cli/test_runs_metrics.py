"""``smtc-lab runs show`` of a run whose script logged its training."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
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


def test_a_run_shows_with_what_it_ran_and_what_is_said_of_it(
    smtc_lab: Callable[..., Any], tmp_path: Path
) -> None:
    records = run_records([0.2] * 5, job_name="told")
    folder = write_run_folder(tmp_path, records)
    job = records.job.model_copy(
        update={"hyperparameters": {"lr": 0.1}, "arguments": ("--seed", "3")}
    )
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
    opened(folder)
    note = ("runs", "note", "told", "--tag", "good", "--tag", "base", "--text", "the best")
    assert "tags good, base" in smtc_lab(*note, "--runs-dir", tmp_path).out

    shown = smtc_lab("runs", "show", "told", "--runs-dir", tmp_path)

    lines = [line.split(maxsplit=1) for line in shown.out.splitlines()]
    told = {name: text for name, *rest in lines for text in rest}
    assert told["script"].endswith("train.py --seed 3")
    assert (told["given"], told["tags"], told["note"]) == ("lr=0.1", "good, base", "the best")


def test_a_run_is_launched_again_with_other_values(
    smtc_lab: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    records = run_records([0.2] * 5, job_name="told")
    folder = write_run_folder(tmp_path, records)
    job = records.job.model_copy(update={"hyperparameters": {"lr": 0.1, "width": 8}})
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
    opened(folder)
    changed: list[dict[str, Any]] = []

    def again(_: Any, **changes: Any) -> Any:
        changed.append(changes)
        raise SpecError("It was to be launched.")

    monkeypatch.setattr("smtc_lab.launchers.run.Run.again", again)

    smtc_lab(
        "runs", "again", "--runs-dir", tmp_path, "told", "-p", "lr=0.5", "--", "--seed", "4"
    )
    smtc_lab("runs", "again", "--runs-dir", tmp_path, "told")

    values = {"hyperparameters": {"lr": 0.5, "width": 8}, "arguments": ("--seed", "4")}
    assert changed == [values, {}]
