"""Files to look into, and what they are made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.run import Run
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.views.share.page import page
from smtc_lab.views.share.shared import Shared, shared
from tests.kit.comparisons import example_comparison
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords

AT = datetime(2026, 11, 24, 1, 30, tzinfo=UTC)
SECRET = "s3cr3t-of-somebody"  # noqa: S105  it is looked for
PLAIN = Shared(
    kind="run",
    name="train-r1",
    saved={"version": 1, "info": {}, "tables": {}},
    text="a run",
    made=None,
    is_emulated=False,
    goes_on=False,
)
QUIET = {"launcher": "local", "run_folder": "", "job_name": ""}


def opened(folder: Path, run: RunRecords, *, reason: str = "") -> Run:
    written = write_run_folder(folder, run, reason=reason)
    handle = {**QUIET, "job_name": written.job_name, "run_folder": str(written.path)}
    written.handle_file.write_text(json.dumps(handle), encoding="utf-8")
    return Run.open(str(written.path))


def outcome(**example: Any) -> ComparisonOutcome:
    comparison, runs = example_comparison(**example)
    return ComparisonOutcome(comparison=comparison, runs=tuple(runs))


def text_of(thing: Any) -> str:
    return page(shared(thing), at=AT)


def data_in(html: str) -> dict[str, Any]:
    (found,) = re.findall(
        r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL
    )
    data: dict[str, Any] = json.loads(found)
    return data


def words_in(html: str) -> str:
    """Return what the header says."""
    (head,) = re.findall(r"<header.*?</header>", html, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", head)).split())


def with_secrets(run: RunRecords) -> RunRecords:
    job = run.job.model_copy(
        update={
            "environment": {"HF_TOKEN": SECRET, "DATABASE": "sql://me:pw@host", "THREADS": "2"},
            "arguments": ("--api-key", SECRET, f"--password={SECRET}", "--epochs", "3"),
            "hyperparameters": {"access-key": SECRET, "batch-size": 32},
        }
    )
    return replace(run, job=job)
