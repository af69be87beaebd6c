"""What the fuzzer feeds: files of folders that are handed on, up to what views say of them."""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.log_tail import LogTail
from smtc_lab.follow.run_follower import rank_files, read_plan
from smtc_lab.instance.instance_exit import InstanceExit
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.run import Run
from smtc_lab.launchers.supervision.last_words import last_words
from smtc_lab.metrics.records.records import EventRecord, LoaderRecord, StepRecord, SystemSample
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.planner.run_prediction import kept_prediction
from smtc_lab.rules.find import find
from smtc_lab.store.environment_file import read_environment
from smtc_lab.store.parity_traces import read_parity_trace
from smtc_lab.store.reader import compiler_reports, read_job, read_records, read_run
from smtc_lab.store.samples import read_samples
from smtc_lab.store.state import current_state
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import (
    LaunchedRun,
    StudyFolder,
    StudyRequest,
    StudyState,
    read_process,
    read_request,
    read_study_state,
)
from smtc_lab.views.kept import bundle_at
from smtc_lab.views.kinds import kind_at
from smtc_lab.views.run_list import RunList, run_rows
from smtc_lab.views.server.list_follower import ListFollower
from smtc_lab.views.server.wire import json_text
from tests.fuzz.mutations import NASTY_TEXTS, mutated_bytes, mutated_json
from tests.kit.comparisons import example_comparison
from tests.kit.compilers import compiler_report
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder

LONGEST_S = 30.0
"""Longest time that a file may be read in, on a machine that does other things as well."""

_PICTURE_EVERY = 100
_HOSTILE_TABLES = (
    (
        "CREATE VIEW {0} AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) "
        "SELECT {1} FROM c"
    ),
    "CREATE TABLE {0} ({2}, more TEXT AS (printf('%.1000000c', 'x')))",
    "CREATE TABLE {0} (step AS (printf('%.1000000c', 'x')), {3})",
    "CREATE VIRTUAL TABLE {0} USING fts5({1})",
    "CREATE TABLE {0} ({2}) WITHOUT ROWID",
    "CREATE TABLE {0} ({2}); INSERT INTO {0} (rowid, {4}) VALUES (9223372036854775807, 'x')",
    "CREATE TABLE {0} ({2}); INSERT INTO {0} (rowid, {4}) VALUES (-5, x'ff'), (9, 1e308)",
    "CREATE TABLE {0} ({2}); INSERT INTO {0} ({4}) VALUES (zeroblob(3000000)), (9e999)",
    "CREATE TABLE {0} ({4}); PRAGMA user_version=99",
    "CREATE TABLE {0} ({2}); INSERT INTO {0} ({4}) SELECT value FROM json_each('[1,null,2.5]')",
    "CREATE TABLE {0} ({2}); CREATE TRIGGER t AFTER INSERT ON {0} BEGIN SELECT 1; END",
)


@dataclass(frozen=True)
class Attacked:
    """A file that is made hostile, and what reads it alone."""

    path: Path
    """The file."""

    good: bytes
    """What it holds."""

    read: Callable[[], object]
    """Reads it."""


class Folders:
    """A run and a study whose files are made hostile, one at a time, beside a healthy run.

    Args:
        home: Where they are made.
        views_every: Of how many hostile files all views are made once; they take 50 times as
            long as the file's own reader.
    """

    def __init__(self, home: Path, *, views_every: int = 200) -> None:
        self._views_every = views_every
        self.root = home / "runs"
        """Folder of the runs."""
        self.run = _written_run(self.root, "hostile-1")
        """The run whose files are made hostile."""
        self.study = _written_study(home, self.root, self.run)
        """The study whose files are made hostile."""
        _written_run(self.root, "healthy-1")
        self.files = {file.path.relative_to(home).as_posix(): file for file in self._files()}
        """What is made hostile, by its path."""
        self._tables = _hostile_tables(home / "tables")

    def hostile(self, name: str, chance: random.Random) -> bytes:
        """Return a hostile content for a file."""
        good = self.files[name].good
        how = chance.random()
        if name.endswith(".sqlite"):
            good = chance.choice(self._tables) if how < 0.3 else good
            return good if how < 0.05 else mutated_bytes(good, chance)
        if name.endswith(".json"):
            if how < 0.03:
                return chance.choice(NASTY_TEXTS)
            return (mutated_json if how < 0.9 else mutated_bytes)(good, chance)
        return mutated_bytes(good, chance)

    def attack(self, name: str, data: bytes, number: int) -> bool:
        """Put a content in the place of a file, read it in every way, and put it right again.

        Args:
            name: Which file.
            data: The content.
            number: How many were tried before; views are made of some.

        Returns:
            Whether its own reader took it.

        Raises:
            Exception: Anything but ``SmtcLabError`` is a defect, also that it took too long.
        """
        file = self.files[name]
        begin_s = time.monotonic()
        file.path.write_bytes(data)
        took = False
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                with contextlib.suppress(SmtcLabError):
                    file.read()
                    took = True
                if number % self._views_every == 0:
                    self._look(with_picture=number % (_PICTURE_EVERY * self._views_every) == 0)
        finally:
            for beside in ("-wal", "-shm", "-journal"):
                file.path.with_name(f"{file.path.name}{beside}").unlink(missing_ok=True)
            file.path.write_bytes(file.good)
        if (took_s := time.monotonic() - begin_s) > LONGEST_S:
            raise TimeoutError(f"{name} was read in {took_s:.1f} s")
        return took

    def _look(self, *, with_picture: bool) -> None:
        """Make every view; the lists must be there, whatever one folder holds."""
        rows = run_rows(self.root, last=10)
        str(RunList(rows=tuple(rows), root=self.root, begin_with=""))
        json.dumps(rows)
        listed = ListFollower(self.root).look()
        assert len(json_text(listed)) < 100_000, "a list is far too long"
        states = {row["name"]: row["state"] for row in listed}
        assert states["healthy-1"] == "Completed", states
        for path in (self.run.path, self.study.path):
            with contextlib.suppress(SmtcLabError):
                kind = kind_at(path)
                kind.first(path)
                seen = kind.see(path)
                json_text(seen.as_dict())
                kind.text(seen)
                kind.html(seen)
            if with_picture:
                with contextlib.suppress(SmtcLabError):
                    bundle_at(path)
        with contextlib.suppress(SmtcLabError):
            records = read_run(self.run)
            summarize(records, usd_per_hour=1.0)
            find(records, usd_per_hour=1.0)
        with contextlib.suppress(SmtcLabError):
            Run.open(str(self.run.path)).logs()

    def _files(self) -> list[Attacked]:
        run, study = self.run, self.study
        steps, system = run.rank_records("algo-1", 0), run.system_records("algo-1")
        report = run.compiler_folder("algo-1") / "report-rank0.json"
        trace = run.compiler_folder("algo-1") / "parity-rank0.npz"
        readers: list[tuple[Path, Callable[[], object]]] = [
            (run.state_file, lambda: current_state(run)),
            (study.state_file, lambda: read_study_state(study)),
            (run.job_file, lambda: read_job(run)),
            (run.plan_file, lambda: rank_files(run, read_plan(run))),
            (run.handle_file, lambda: Handle.read(run.handle_file)),
            (run.environment_file, lambda: read_environment(run)),
            (run.exit_file("algo-1"), lambda: InstanceExit.read(run, "algo-1")),
            (run.failure_file("algo-1"), lambda: last_words(run, "algo-1", None)),
            (run.path / "prediction.json", lambda: kept_prediction(run)),
            (report, lambda: compiler_reports(run)),
            (trace, lambda: read_parity_trace(trace)),
            (run.log_file("algo-1"), lambda: LogTail(run.logs).look()),
            (steps, lambda: _read_steps(steps)),
            (system, lambda: (read_samples(system), read_records(system, SystemSample))),
            (
                run.records / "run.sqlite",
                lambda: read_records(run.records / "run.sqlite", EventRecord),
            ),
            (study.request_file, lambda: read_request(study)),
            (study.process_file, lambda: read_process(study)),
            (study.result_file("comparison"), lambda: _read_result(study)),
            (study.log_file, lambda: read_study_state(study)),
        ]
        return [Attacked(path, path.read_bytes(), read) for path, read in readers]


def _read_steps(path: Path) -> None:
    columns = StepColumns([path])
    count = columns.count()
    columns.read(0)
    if count:
        columns.bins(0, count, 8)
    read_records(path, StepRecord)
    read_records(path, LoaderRecord)


def _read_result(study: StudyFolder) -> None:
    comparison = ComparisonRun(study).comparison
    repr(comparison and comparison.verdict)


def _written_run(root: Path, name: str) -> RunFolder:
    folder = write_run_folder(root, run_records([1.0, *[0.2] * 30], job_name=name))
    events = [("state", "It has begun."), ("failure", "It \u202eended\x1b[2J.")]
    with RecordWriter(folder.records / "run.sqlite") as writer:
        for kind, message in events:
            writer.append(EventRecord(time_s=1.0, kind=kind, host="algo-1", message=message))
    for path in folder.record_files():  # a file that is replaced must be all there is of it
        connection = apsw.Connection(str(path))
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        connection.close()
    handle = Handle(launcher="local", job_name=name, run_folder=str(folder.path))
    folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
    environment = {"name": "today", "python": "3.12", "packages": {"torch": "2.9"}}
    folder.environment_file.write_text(json.dumps(environment), encoding="utf-8")
    (folder.path / "prediction.json").write_text("{}", encoding="utf-8")
    made = folder.compiler_folder("algo-1")
    made.mkdir(parents=True)
    (made / "report-rank0.json").write_text(compiler_report().model_dump_json())
    weights = {"losses": np.ones(2), "names": np.array(["w"]), "norms": np.ones((2, 1))}
    np.savez(made / "parity-rank0.npz", **weights)
    InstanceExit(exit_code=1, cpu_quota_mechanism="none").write(folder, "algo-1")
    folder.failure_file("algo-1").write_text("It failed.")
    folder.log_file("algo-1").write_text("one\n\x1b[31mtwo\x1b[0m\r 100 %\nthree\n" * 20)
    return folder


def _written_study(home: Path, root: Path, run: RunFolder) -> StudyFolder:
    from datetime import UTC, datetime

    study = StudyFolder(home / "comparisons" / "study-1")
    study.path.mkdir(parents=True)
    job = read_job(run).model_copy(update={"max_steps": 31})
    request = StudyRequest(
        jobs=(job, job), rounds=1, root=root, created=datetime(2026, 11, 21, tzinfo=UTC)
    )
    study.request_file.write_text(request.to_json(), encoding="utf-8")
    label = job.cluster.label
    state = StudyState(
        state="Completed",
        started_s=1.0,
        ended_s=2.0,
        launches=1,
        runs=(LaunchedRun(job_name=run.job_name, label=label, round=1),),
    )
    study.state_file.write_text(json.dumps(asdict(state)), encoding="utf-8")
    study.process_file.write_text('{"pid": 4194304, "start_ticks": 1, "is_callers": false}')
    comparison, _ = example_comparison()
    study.result_file("comparison").write_text(comparison.to_json(), encoding="utf-8")
    study.log_file.write_text("one\ntwo\n")
    return study


def _hostile_tables(folder: Path) -> list[bytes]:
    """Return record files that are no damage to SQLite, but to whoever trusts them."""
    folder.mkdir()
    found = []
    for record_class, table in TABLES.items():
        names = table.columns
        words = (table.name, ", ".join(f"'x' AS {each}" for each in names))
        more = (", ".join(names), ", ".join(names[1:]), names[0])
        for place, sql in enumerate(_HOSTILE_TABLES):
            path = folder / f"{record_class.__name__}-{place}.sqlite"
            connection = apsw.Connection(str(path))
            with contextlib.suppress(apsw.Error):
                connection.execute(sql.format(*words, *more)).fetchall()
            connection.close()
            found.append(path.read_bytes())
    return found
