"""Real scripts, run as an agent would run them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.records.records import EventRecord, LoaderRecord, StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from tests.kit.warm_ranks import run_script_on_ranks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    RunScript = Callable[..., Any]


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


RUN = """
import os, sys
from smtc_lab.runtime import run_script

os.dup2(os.open("errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
sys.exit(run_script.main(sys.argv[1], sys.argv[2:]))
"""


@pytest.fixture
def run_script(tmp_path: Path) -> RunScript:
    """Return a function that runs a script through ``smtc_lab.runtime.run_script``."""

    def run(body: str, *arguments: str, is_warm: bool = False, **more: str) -> ScriptRun:
        folder = RunFolder.create(tmp_path / "runs", "train-1")
        (folder.opt_ml("algo-1") / "output").mkdir(parents=True)
        script = tmp_path / "code" / "train.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        told = {
            "SMTC_RUN_ID": str(folder.path),
            "SM_CURRENT_HOST": "algo-1",
            "SAGEMAKER_BASE_DIR": str(folder.opt_ml("algo-1")),
            **more,
        }
        if is_warm:
            begin, log = folder.path / "begin.py", folder.path / "printed"
            begin.write_text(RUN, encoding="utf-8")
            given = [[str(script), *arguments]]
            (code,) = run_script_on_ranks(
                begin, [log], variables=[told], arguments=given, limit_s=240
            )
            errors = log.with_name("errors").read_text(encoding="utf-8")
            return ScriptRun(folder, code, log.read_text(encoding="utf-8"), errors)
        ended = subprocess.run(
            [sys.executable, "-m", "smtc_lab.runtime.run_script", script, *arguments],
            env={**os.environ, **told},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return ScriptRun(folder, ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def run_warm(run_script: RunScript) -> RunScript:
    """Return one whose process begins with torch imported; it checks the exit code."""

    def run(body: str, *arguments: str, code: int = 0, **more: str) -> ScriptRun:
        ended: ScriptRun = run_script(body, *arguments, is_warm=True, **more)
        assert ended.exit_code == code, ended.errors
        return ended

    return run
