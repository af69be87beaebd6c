"""A study whose process is gone without a last word."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.folder import (
    LaunchedRun,
    StudyFolder,
    StudyRequest,
    StudyState,
    read_study_state,
    write_study_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob


def test_it_ended_when_it_wrote_last_not_when_somebody_looks(
    make_job: Callable[..., TrainingJob], root: Path
) -> None:
    now_s = time.time()
    folder = StudyFolder(root.parent / "comparisons" / "lost")
    folder.path.mkdir(parents=True)
    request = StudyRequest(jobs=(make_job("pass"),), root=root, created=datetime.now(UTC))
    folder.request_file.write_text(request.to_json(), encoding="utf-8")
    folder.process_file.write_text(json.dumps({"pid": 2**22 + 1, "start_ticks": 1}))
    runs = (LaunchedRun(job_name="newest", label="one", round=1),)
    state = StudyState(state="InProgress", started_s=now_s - 7200, runs=runs)
    write_study_state(folder, state)
    for path in folder.path.iterdir():
        os.utime(path, (now_s, now_s - 7000))
    log = RunFolder.create(root, "newest").logs / "algo-1.log"
    log.write_text("step 1", encoding="utf-8")
    os.utime(log, (now_s, now_s - 3600))

    lost = read_study_state(folder)

    assert lost.state == "Failed"
    assert lost.ended_s == pytest.approx(now_s - 3600, abs=0.01)
