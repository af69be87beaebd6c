"""Comparisons in the folders of a user, as their process and their launches leave them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.launchers.launcher import Handle
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import LaunchedRun, StudyRequest, StudyState, write_study_state
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.supervision import make_study
from smtc_lab.study.watched_run import STUDY
from tests.kit.comparison_runs import HETEROGENEOUS, HOMOGENEOUS
from tests.kit.comparisons import example_comparison
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.study.folder import StudyFolder

CREATED = datetime(2026, 11, 3, 10, 15, tzinfo=UTC)
"""When it was begun."""


def write_ended_comparison(root: Path) -> ComparisonRun:
    """Write the folders of a comparison of two launches that has ended, with its result.

    Args:
        root: Folder of runs; the comparison lies beside it, as one that was launched does.
    """
    examples = [replace(example, launches=1) for example in (HOMOGENEOUS, HETEROGENEOUS)]
    comparison, runs = example_comparison(examples)
    request = StudyRequest(jobs=tuple(run.job for run in runs), root=root, created=CREATED)
    folder = make_study(request, _carried_out)
    folder.result_file("comparison").write_text(comparison.to_json(), encoding="utf-8")
    launched = tuple(_launched(root, run, study=folder.name) for run in runs)
    write_study_state(
        folder, StudyState(state="Completed", launches=len(launched), runs=launched)
    )
    return ComparisonRun(folder)


def _carried_out(folder: StudyFolder) -> None:
    """Name a process that is gone."""
    folder.process_file.write_text(json.dumps({"pid": 2**22 + 1, "start_ticks": 1}))


def _launched(root: Path, run: RunRecords, *, study: str) -> LaunchedRun:
    """Write the folder of a launch, which says whose it is."""
    name = launch_name(run.job.entry_point, run.label, "r1", stamp=CREATED)
    job = run.job.model_copy(update={"job_name": name})
    folder = write_run_folder(root, replace(run, job=job))
    plan = json.loads(folder.plan_file.read_bytes())
    folder.plan_file.write_text(json.dumps({**plan, "facts": {STUDY: study}}), encoding="utf-8")
    handle = Handle(launcher="local", job_name=name, run_folder=str(folder.path), remote={})
    folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
    return LaunchedRun(job_name=name, label=run.label, round=1)
