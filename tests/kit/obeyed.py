"""Folders in which every text holds characters that terminals, browsers and readers obey."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.metrics.records.records import EventRecord, LoaderRecord
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_run
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.folder import LaunchedRun, StudyFolder, StudyRequest, StudyState
from tests.kit.compilers import troubled_report
from tests.kit.records import HETEROGENEOUS, HOMOGENEOUS, jittered, run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.state import State

OBEYED = "\u202e\u2066\u200f\u061c\u2028\x1b[2J\x1b]0;title\x07\x9b\x08\x7f"
"""What is in every text; begin and end of it are told from a character that stands alone."""

CHARACTERS = frozenset(each for each in OBEYED if not each.isprintable()) | {"\0", "\u2069"}
"""What no view may hold raw."""

FAILURE = f"train.py: error: {OBEYED}\0 the following arguments are required: --depth{OBEYED}"
"""What a script said last."""


def obeyed_in(text: str) -> set[str]:
    """Return the characters of a text that somebody would obey."""
    return set(text) & CHARACTERS


def poisoned(values: Any, is_legal: Callable[[Any], object]) -> Any:  # noqa: ANN401  JSON
    """Return a JSON value with ``OBEYED`` at each text of it that may be any.

    Args:
        values: The value.
        is_legal: Raises SpecError or ValueError for a value that its reader refuses.
    """
    for holder, place in list(_texts(values)):
        before = holder[place]
        for after in (f"{before}{OBEYED}", f"{OBEYED}{before}", before):
            holder[place] = after
            with contextlib.suppress(SpecError, ValueError):
                is_legal(values)
                break
    return values


def poisoned_study(home: Path, state: State) -> StudyFolder:
    """Write a comparison of two set-ups in two rounds, and return its folder.

    Args:
        home: Where ``runs`` and ``comparisons`` are made.
        state: How it and its launches ended.
    """
    launches = [
        (_poisoned_run(home / "runs", run), number)
        for number in (1, 2)
        for name, cluster, mean_s in (("homo", HOMOGENEOUS, 0.6), ("het", HETEROGENEOUS, 0.1))
        for run in (
            run_records(
                jittered(mean_s, seed=number),
                cluster=cluster,
                job_name=f"{name}-{number}",
                state=state,
            ),
        )
    ]
    records = [read_run(folder) for folder, _ in launches]
    jobs = tuple(each.job for each in records[:2])
    study = StudyFolder(home / "comparisons" / "study-1")
    study.path.mkdir(parents=True)
    created = datetime(2026, 11, 21, tzinfo=UTC)
    request = StudyRequest(jobs=jobs, rounds=2, root=home / "runs", created=created)
    study.request_file.write_text(request.to_json(), encoding="utf-8")
    runs = tuple(
        LaunchedRun(job_name=folder.job_name, label=run.job.cluster.label, round=number)
        for (folder, number), run in zip(launches, records, strict=True)
    )
    told = StudyState(
        state=state, reason=FAILURE, started_s=1.0, ended_s=2.0, launches=4, runs=runs
    )
    study.state_file.write_text(json.dumps(asdict(told)), encoding="utf-8")
    process = {"pid": 2**22, "start_ticks": 1, "is_callers": False}
    study.process_file.write_text(json.dumps(process), encoding="utf-8")
    comparison = compare_runs(
        [replace(run, state="Completed") for run in records],
        catalog=Catalog.load(),
        created=created.isoformat(),
        machine={OBEYED: OBEYED},
    )
    values = poisoned(json.loads(comparison.to_json()), Comparison.model_validate)
    study.result_file("comparison").write_text(json.dumps(values), encoding="utf-8")
    study.log_file.write_text(FAILURE, encoding="utf-8")
    return study


def _poisoned_run(root: Path, run: RunRecords) -> RunFolder:
    folder = write_run_folder(root, run, reason=FAILURE)
    job = json.loads(folder.job_file.read_text(encoding="utf-8"))
    job |= {
        "hyperparameters": {"depth": OBEYED, "width": [OBEYED]},
        "environment": {"NAME": OBEYED},
        "channels": [{"channel_name": "train", "source": "s3://a/b"}],
    }
    job = poisoned(job, TrainingJob.model_validate)
    folder.job_file.write_text(json.dumps(job), encoding="utf-8")
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    plan["price_notes"] = [OBEYED]
    folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")
    packages = {f"torch{OBEYED}": OBEYED}
    environment = {"name": OBEYED, "python": OBEYED, "packages": packages}
    folder.environment_file.write_text(json.dumps(environment), encoding="utf-8")
    opened(folder)
    made = folder.compiler_folder("algo-1")
    made.mkdir(parents=True)
    report = json.loads(troubled_report().model_dump_json())
    report = poisoned(report, CompilerReport.model_validate)
    (made / "report-rank0.json").write_text(json.dumps(report), encoding="utf-8")
    folder.failure_file("algo-1").write_text(FAILURE, encoding="utf-8")
    folder.log_file("algo-1").write_text(f"one\n{FAILURE}\nthree\n" * 3, encoding="utf-8")
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        fields = {"time_s": 1.0, "received_bytes": 0, "get_wait_s": 0.0, "worker_busy_s": 0.0}
        writer.append(
            LoaderRecord(server=OBEYED, batches=3, requests_sent_again=0, **fields)  # type: ignore[arg-type]
        )
        for kind in ("warning", "failure", OBEYED):
            writer.append(EventRecord(time_s=2.0, kind=kind, host=OBEYED, message=FAILURE))
    return folder


def _texts(values: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401  JSON
    """Return where texts stand: what holds each, and its place there."""
    places = values.items() if isinstance(values, dict) else enumerate(values)
    for place, value in list(places):
        if isinstance(value, str):
            yield values, place
        elif isinstance(value, dict | list):
            yield from _texts(value)
