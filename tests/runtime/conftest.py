"""Real scripts, run as an agent would run them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.records.records import EventRecord, LoaderRecord, StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class ScriptRun:
    """A script that has ended, and what it left behind."""

    folder: RunFolder
    exit_code: int
    printed: str
    errors: str

    @property
    def steps(self) -> list[StepRecord]:
        return read_records(self.folder.records / "algo-1-rank0.sqlite", StepRecord)[0]

    @property
    def events(self) -> list[EventRecord]:
        return read_records(self.folder.records / "algo-1-rank0.sqlite", EventRecord)[0]

    @property
    def loader(self) -> list[LoaderRecord]:
        return read_records(self.folder.records / "algo-1-rank0.sqlite", LoaderRecord)[0]

    @property
    def failure(self) -> str | None:
        path = self.folder.opt_ml("algo-1") / "output" / "failure"
        return path.read_text(encoding="utf-8") if path.exists() else None


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., ScriptRun]:
    """Return a function that runs a script through ``smtc_lab.runtime.run_script``."""

    def run(body: str, *arguments: str, **environment: str) -> ScriptRun:
        folder = RunFolder.create(tmp_path / "runs", "train-1")
        (folder.opt_ml("algo-1") / "output").mkdir(parents=True)
        script = tmp_path / "code" / "train.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        ended = subprocess.run(
            [sys.executable, "-m", "smtc_lab.runtime.run_script", script, *arguments],
            env={
                **os.environ,
                "SMTC_RUN_ID": str(folder.path),
                "SM_CURRENT_HOST": "algo-1",
                "SAGEMAKER_BASE_DIR": str(folder.opt_ml("algo-1")),
                **environment,
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return ScriptRun(folder, ended.returncode, ended.stdout, ended.stderr)

    return run
