"""Reads the records of a run, finished or growing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import MIB, names_beneath, read_beneath
from smtc_lab.machine.stored_text import check_schema, misfits, parsed_json, stored_json
from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.metrics.records.pipeline_records import (
    MOST_MICROBATCHES,
    MOST_STAGES,
    MicrobatchRecord,
    PipelineRecords,
    StageRecord,
)
from smtc_lab.metrics.records.records import (
    BucketRecord,
    EventRecord,
    LoaderRecord,
    RunRecords,
    StepRecord,
    SystemSample,
)
from smtc_lab.spec.distribution import KEPT
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.environment_file import read_environment
from smtc_lab.store.query import columns_there, damage, query
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.state import current_state
from smtc_lab.store.tables import TABLES, Record

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder

R = TypeVar("R", bound=Record)
_HOST = re.compile(r"[A-Za-z0-9-]{1,80}")
_REPORT = re.compile(r"report-rank[0-9]{1,6}\.json")
_JOB_BYTES = 16 * MIB
_REPORT_BYTES = 16 * MIB
_MOST_ROWS = 2**62


def read_records(
    path: Path, record_class: type[R], *, after: int = 0, most: int = _MOST_ROWS
) -> tuple[list[R], int]:
    """Return the records of one file that were committed after a row.

    Args:
        path: A record file of a run; it may be growing, and may not be there yet.
        record_class: Which records.
        after: Row number that the last call returned; 0 reads from the begin.
        most: Records that are read, at most.

    Returns:
        The records in the order in which they were written, and the last row number.

    Raises:
        StoreError: The file is damaged or cannot be read.
    """
    table = TABLES[record_class]
    there = columns_there([path], table.name) if table.defaults else None
    rows = query([path], f"{table.select(there)} LIMIT ?", (after, most))
    try:
        records = [record_class(**fields) for fields in table.fields(rows)]
    except ValueError as error:
        raise StoreError(
            f"The record file {str(path)!r} is damaged ({error}). The other files of the run "
            "can still be read; restore this one from a copy."
        ) from error
    return records, (rows[-1][0] if rows else after)


def read_run(folder: RunFolder) -> RunRecords:
    """Return everything that is known of a run.

    Raises:
        StoreError: A file of the run is damaged.
    """
    state = current_state(folder)
    steps: dict[str, list[StepRecord]] = {}
    loader: dict[str, list[LoaderRecord]] = {}
    buckets: dict[str, list[BucketRecord]] = {}
    system: dict[str, list[SystemSample]] = {}
    events: list[EventRecord] = []
    for path in folder.record_files():
        if path.stem.endswith("-system"):
            system[path.stem.removesuffix("-system")] = read_records(path, SystemSample)[0]
        elif "-rank" in path.stem:
            steps[path.stem] = read_records(path, StepRecord)[0]
            buckets[path.stem] = read_records(path, BucketRecord)[0]
            loader[path.stem] = read_records(path, LoaderRecord)[0]
        events.extend(read_records(path, EventRecord)[0])
    compiler, problems = compiler_reports(folder)
    events.extend(problems)
    return RunRecords(
        job=read_job(folder),
        state=state.state,
        started_s=state.started_s,
        ended_s=state.ended_s,
        facts=state.facts,
        attempts=state.attempts,
        steps=steps,
        loader=loader,
        buckets=buckets,
        system=system,
        compiler=compiler,
        events=sorted(events, key=lambda event: event.time_s),
        environment=read_environment(folder),
        pipeline=read_pipeline(folder),
    )


def read_pipeline(folder: RunFolder) -> PipelineRecords | None:
    """Return what the ranks of a run's pipelines recorded; None: no model was cut.

    Raises:
        StoreError: A file of the run is damaged.
    """
    stages, microbatches = {}, {}
    for path in folder.record_files(RANK_RECORDS):
        found, _ = read_records(path, StageRecord, most=MOST_STAGES)
        if found:
            stages[path.stem] = found
            computed, _ = read_records(path, MicrobatchRecord, most=MOST_MICROBATCHES)
            problems = [one.problem for one in found] + [one.problem for one in computed]
            if any(problems):
                raise damage([path], next(filter(None, problems)))
            microbatches[path.stem] = computed
    return PipelineRecords(stages=stages, microbatches=microbatches) if stages else None


def report_files(folder: RunFolder) -> list[Path]:
    """Return the files of all compiler reports of a run that are there."""
    found = []
    for host in names_beneath(folder.path, "instances", _HOST):
        below = folder.compiler_folder(host)
        found += [below / name for name in names_beneath(folder.path, below, _REPORT)]
    return found


def compiler_reports(
    folder: RunFolder,
) -> tuple[dict[str, CompilerReport], list[EventRecord]]:
    """Return the reports by ``<host>-rank<rank>``, and what is to say of those left out.

    A report tells about a run; without it the run's records are as good as before. So a
    damaged one is a warning.
    """
    reports: dict[str, CompilerReport] = {}
    problems: list[EventRecord] = []
    for path in report_files(folder):
        host = path.relative_to(folder.path).parts[1]
        name = f"{host}-{path.stem.removeprefix('report-')}"
        try:
            values = stored_json(folder.path, path, most_bytes=_REPORT_BYTES)
            reports[name] = CompilerReport.model_validate(values)
        except (OSError, ValueError, StoreError) as error:
            cause = misfits(error)
            problems.append(
                EventRecord(
                    time_s=_changed_s(path),
                    kind="warning",
                    host=host,
                    message=f"The compiler's report {str(path)!r} cannot be read and is left "
                    f"out ({cause}). Restore it from a copy, or read it with the smtc_lab "
                    "version that wrote it.",
                )
            )
    return reports, problems


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it is gone meanwhile
        return 0.0


def read_job(folder: RunFolder) -> TrainingJob:
    """Return what was run.

    Raises:
        StoreError: The job cannot be read; says why without its content, as the folder may
            be somebody else's.
    """
    try:
        text = read_beneath(folder.path, folder.job_file, most_bytes=_JOB_BYTES)
        values = parsed_json(text)
        check_schema(values, folder.job_name)
        return TrainingJob.model_validate_json(text, context=KEPT)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The job of run {folder.job_name!r} cannot be read ({misfits(error)}). Restore "
            f"job.json from a copy; the other files in {str(folder.path)!r} may still hold its "
            "records."
        ) from error
