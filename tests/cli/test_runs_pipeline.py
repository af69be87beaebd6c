"""``smtc-lab runs show`` of a run whose model is cut into stages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from smtc_lab.store.writer import RecordWriter
from tests.kit.pipelines import gpipe_records
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


def test_a_run_shows_a_line_for_each_stage(
    smtc_lab: Callable[..., Any], tmp_path: Path
) -> None:
    folder = write_run_folder(tmp_path, run_records([1.0, *[0.2] * 30], job_name="staged"))
    records = gpipe_records(
        seconds=[0.01, 0.03], microbatches=4, first_module="emb\x1b[2J", static_bytes=2**20
    )
    for name, stages in records.stages.items():
        with RecordWriter(folder.records / f"{name}.sqlite") as writer:
            for record in (*stages, *records.microbatches[name]):
                writer.append(record)

    opened(folder)
    shown = smtc_lab("runs", "show", "staged", "--runs-dir", tmp_path)

    assert shown.exit_code == 0, shown.err
    lines = shown.out.splitlines()
    place = next(i for i, line in enumerate(lines) if "  pipeline   The 2 ranks" in line)
    assert lines[place + 1].split() == [
        "stage",
        "modules",
        "FLOPs",
        "rank",
        "busy",
        "bubble",
        "memory",
    ]
    assert "25 %" in lines[place + 2]
    assert lines[place + 2].split()[0] == "0"
    assert lines[place + 2].count(" %") == 3, "share of FLOPs, busy and waiting"
    assert lines[place + 3].rstrip().endswith("MiB predicted")
    assert "\x1b" not in shown.out

    told = json.loads(smtc_lab("runs", "show", "staged", "--json", "--runs-dir", tmp_path).out)[
        "pipeline"
    ]
    assert (told["schedule"], len(told["stages"]), told["num_steps"]) == ("gpipe", 2, 2)
