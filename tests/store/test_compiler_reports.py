from __future__ import annotations

import json
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.store.reader import read_run
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


def compiler_folder(run_folder: RunFolder, host: str) -> Path:
    path = run_folder.opt_ml(host) / "output" / "data" / "compiler"
    path.mkdir(parents=True)
    return path


def test_what_the_compiler_did_is_read_by_rank(run_folder: RunFolder) -> None:
    report = CompilerReport(config=TrainingCompilerConfig(), backend="inductor", device="cpu")
    later = {**json.loads(report.model_dump_json()), "a_field_of_a_later_version": 1}
    for host, rank in (("algo-1", 0), ("algo-2", 1)):
        path = compiler_folder(run_folder, host) / f"report-rank{rank}.json"
        path.write_text(json.dumps(later), encoding="utf-8")

    run = read_run(run_folder)

    assert run.compiler == {"algo-1-rank0": report, "algo-2-rank1": report}


def test_a_damaged_report_of_a_compiler_is_left_out_and_said(run_folder: RunFolder) -> None:
    path = compiler_folder(run_folder, "algo-1") / "report-rank0.json"
    path.write_text('{"backend": "indu', encoding="utf-8")
    with RecordWriter(run_folder.records / "algo-1-rank0.sqlite") as writer:
        writer.append(step_record())

    run = read_run(run_folder)

    assert run.compiler == {}
    assert run.steps == {"algo-1-rank0": [step_record()]}
    (event,) = run.events
    assert (event.kind, event.host) == ("warning", "algo-1")
    assert "report-rank0.json' cannot be read and is left out" in event.message
    assert "\n" not in event.message
