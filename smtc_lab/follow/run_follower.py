"""Follows the folder of one run: what is new in it goes into live tables.

It reads files only, so it works for a run of another process, for one that has ended, and for
one whose supervisor was killed.
"""

from __future__ import annotations

import math
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from smtc_lab.follow.changes import Changes
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.follow.growing import Growing
from smtc_lab.follow.host_table import HostTable
from smtc_lab.follow.logged.metric_tables import MetricTables
from smtc_lab.follow.step_table import StepTable
from smtc_lab.instance.plan import is_planned, planned_ranks
from smtc_lab.machine.beneath import MIB
from smtc_lab.machine.environments.named import other_environment
from smtc_lab.machine.stored_text import stored_json
from smtc_lab.metrics.columns import STEP, STEP_COLUMNS
from smtc_lab.metrics.measured_columns import measured_columns
from smtc_lab.metrics.measured_launch import probe_steps
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.result import evidence_of
from smtc_lab.store.reader import compiler_reports, read_job, read_pipeline, report_files
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.state import RunState, current_state
from smtc_lab.store.steps.columns import StepColumns

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.follow.frames import Frame
    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.store.run_folder import RunFolder

_STATE_S = 0.5
_PLAN_BYTES = 16 * MIB
_MOST_NOTES = 100
_MOST_RANKS = 10_000
_RANK_S = 0.001
"""Least time from one look at the steps to the next, for each rank, whose file a look opens for
0.2 to 0.4 ms. 512 ranks are looked at twice a second."""


class RunFollower:
    """The tables of one run: ``steps``, ``system:<host>`` for each instance, ``metric:<n>``.

    ``look`` costs a few microseconds for each file while nothing happens. Only one thread may
    call it.

    Args:
        folder: The run.
        stream: Sends the tables; they are added to it when their first row is there.
        prefix: Put before the names of the tables, for example ``0/``.
        with_metrics: Whether what the script logs has tables, too.

    Raises:
        StoreError: The run's job or state cannot be read.
    """

    def __init__(
        self, folder: RunFolder, stream: Stream, *, prefix: str = "", with_metrics: bool = True
    ) -> None:
        self.folder = folder
        self.job = read_job(folder)
        """What was run."""
        self.plan = read_plan(folder)
        """The launch plan as it was written; empty: it cannot be read."""
        self.state: RunState = current_state(folder)
        """Where the run stood at the last look."""
        self.dilation = dilation_of_job(self.job)
        """Time dilation of its emulation, by whose cluster time its steps are told."""
        files = rank_files(folder, self.plan)
        self.steps = StepTable(files, f"{prefix}steps", dilation=self.dilation)
        """The steps of the job."""
        self.hosts = {
            host: HostTable(
                folder.system_records(host), f"{prefix}system:{host}", dilation=self.dilation
            )
            for host in self.job.cluster.hosts()
        }
        """The instances, by host."""
        hosts = self.job.cluster.hosts() if self.job.metric_definitions else ()
        printed = [folder.system_records(host, "printed") for host in hosts]
        self.metrics = MetricTables(
            files if with_metrics else (),
            stream,
            prefix=prefix,
            printed=printed if with_metrics else (),
        )
        """What the script logs."""
        self.reports: dict[str, CompilerReport] = {}
        """What the compiler did in each rank, as far as it is told."""
        self.has_looked = False
        """Whether what was recorded before is in the tables."""
        self._stream = stream
        self._columns = Growing(len(STEP_COLUMNS))
        self._changes = Changes()
        self._state_s = 0.0
        self._reports_s = -math.inf
        self._pace = FilePace(_RANK_S)

    @property
    def begin_s(self) -> float | None:
        """Begin of the run in seconds since the epoch; None: it has not begun."""
        return self.state.started_s

    @property
    def num_trainers(self) -> int:
        """Trainers of the job, as it was planned; else those that record steps."""
        planned = sum(len(planned_ranks(each)) for each in self.plan.get("instances", ()))
        return planned or len(self.steps.paths)

    def fact(self, name: str) -> float | None:
        """Return a number that the launcher wrote down about the run; None: not known."""
        return number_of(self.state.facts, name)

    def quota_cores(self, host: str) -> float | None:
        """Return the CPU quota of an instance in cores; None: it has none."""
        return number_of(self.state.facts.get("cpu_quota_cores"), host)

    @property
    def python_environment(self) -> str:
        """Name of the Python environment; empty: it is the one that launched."""
        named = self.job.python_environment
        return other_environment(self.state.facts.get("python_environment", named))

    def look(self) -> bool:
        """Take in what is new; False: nothing is.

        The first look takes in everything that is there: of a million steps in about half a
        second.

        Raises:
            StoreError: A file of the run is damaged.
        """
        # The state first: what is read behind the end of a run is all of it.
        before = self.state
        self._look_at_state()
        if self.state.is_terminal and not self.steps.num_rows:
            self._drop_absent_ranks()
        found = self.state != before
        found = self._look_at_reports(ended=found and self.state.is_terminal) or found
        if self.begin_s is not None:
            found = self._look_at_records(self.begin_s) or found
        self.has_looked = True
        if self.begin_s is not None:
            is_last = self.state.is_terminal
            found = self.metrics.look(begin_s=self.begin_s, is_last=is_last) or found
        return found

    def measured(self, *, until_s: float = math.inf) -> MeasuredColumns | None:
        """Return what is measured so far; None: no step.

        Args:
            until_s: Only steps that ended before this time, in seconds since the epoch.

        Raises:
            StoreError: A file of the run is damaged.
        """
        self._columns.append(self.steps.columns(self._columns.num_rows))
        steps = self._columns.values
        if until_s < math.inf:
            steps = steps[:, steps[STEP["end_time_s"]] <= until_s]
        return measured_columns(
            steps,
            cluster=self.job.cluster,
            samples={host: system.samples.values for host, system in self.hosts.items()},
            num_cores=self.fact("num_cores"),
            probe_steps=probe_steps(self.reports.values()),
        )

    def pipeline(self) -> PipelineTimes | None:
        """Return the stages of the model and their times so far; None: it is not cut.

        Raises:
            StoreError: A file of the run is damaged.
        """
        spread = self.job.distribution
        if spread is None or spread.pipeline == 1:
            return None
        records, evidence = read_pipeline(self.folder), evidence_of(self.job)
        return pipeline_times(records, evidence=evidence, dilation=self.dilation)

    def read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        """Return rows that were asked for in more detail; None: of another table."""
        return self.steps.part(first, end, most) if table == self.steps.table.name else None

    def _look_at_records(self, begin_s: float) -> bool:
        found = self._look_at_steps(begin_s)
        for host, system in self.hosts.items():
            if self._changes.in_file(system.path) and system.look(
                begin_s=begin_s,
                quota_cores=self.quota_cores(host),
                num_cores=self.fact("num_cores"),
            ):
                self._stream.add(system.table)
                found = True
        return found

    def _look_at_state(self) -> None:
        # a supervisor that was killed leaves no trace in the file
        is_due = time.monotonic() - self._state_s >= _STATE_S
        is_changed = self._changes.in_file(self.folder.state_file)
        if not self.state.is_terminal and (is_due or is_changed):
            self.state = current_state(self.folder)
            self._state_s = time.monotonic()

    def _look_at_reports(self, *, ended: bool) -> bool:
        """Read reports when one has changed, and once more when the run has ended."""
        now_s = time.monotonic()
        is_due = ended or now_s - self._reports_s >= _STATE_S
        if self.job.compiler_config is None or not is_due:
            return False
        self._reports_s = now_s
        if not ended and not any(map(self._changes.in_file, report_files(self.folder))):
            return False
        before = self.reports
        self.reports, _ = compiler_reports(self.folder)
        return self.reports != before

    def _look_at_steps(self, begin_s: float) -> bool:
        is_due = self._pace.is_due(len(self.steps.paths), is_last=self.state.is_terminal)
        if not is_due or not self._changes.in_any(self.steps.paths):
            return False
        if self.steps.num_rows and not self._has_gone_back():
            return self.steps.look()
        if not self.steps.open(begin_s=begin_s):
            return False
        self._stream.add(self.steps.table)
        # rows that were loaded are sent as a whole, not as news
        self._stream.answer({"type": "resync", "table": self.steps.table.name})
        return True

    def _has_gone_back(self) -> bool:
        """Return whether steps that were taken in are done again by another attempt."""
        if len(self.state.attempts) < 2 or not self.steps.has_gone_back():
            return False
        self._columns = Growing(len(STEP_COLUMNS))
        return True

    def _drop_absent_ranks(self) -> None:
        """Show the steps of the other ranks when one died before it recorded any."""
        planned = rank_files(self.folder, self.plan)
        present = [path for path in planned if StepColumns([path]).has_rows()]
        if present and present != list(self.steps.paths):
            name = self.steps.table.name
            self.steps = StepTable(present, name, dilation=self.dilation)


def read_plan(folder: RunFolder) -> dict[str, Any]:
    """Return the launch plan of a run as it was written; empty: it cannot be read.

    ``instances`` are those that can be: a name of a host each, and ranks that are numbers.
    """
    try:
        plan = stored_json(folder.path, folder.plan_file, most_bytes=_PLAN_BYTES)
    except (OSError, ValueError):
        return {}
    given = plan.get("instances")
    instances = given if isinstance(given, list) else []
    notes = plan.get("price_notes")
    return {
        **plan,
        "instances": [each for each in instances if is_planned(each)],
        "usd_per_hour": number_of(plan, "usd_per_hour"),
        "price_notes": list(map(str, notes))[:_MOST_NOTES] if isinstance(notes, list) else [],
    }


def rank_files(folder: RunFolder, plan: dict[str, Any]) -> list[Path]:
    """Return the record files of all trainers of a plan, also of those that are not there."""
    planned = (
        folder.rank_records(instance["host"], rank)
        for instance in plan.get("instances", ())
        for rank in planned_ranks(instance)
    )
    found = list(islice(planned, _MOST_RANKS))
    return found or folder.record_files(RANK_RECORDS)
