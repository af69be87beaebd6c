"""Describes a run that is being followed: state, groups, price, compiler, events, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.changes import Changes
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.launchers.engines import is_billed, runs_here, takes_instances
from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.cost import usd_of_run
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.metrics.result import evidence_of
from smtc_lab.store.reader import read_records
from smtc_lab.store.state import lasted_s
from smtc_lab.views.run.info import (
    CompilerInfo,
    EventInfo,
    GroupInfo,
    RunInfo,
)
from smtc_lab.views.run.interruptions import interruption_infos, spot_info
from smtc_lab.views.run.metric_info import metric_infos
from smtc_lab.views.run.predicted import predicted_step_time_s
from smtc_lab.views.run.spread import spread_of
from smtc_lab.views.run.summary import RunSummarizer
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import compile_time_words
from smtc_lab.views.text.emulated import of_run
from smtc_lab.views.text.findings import told
from smtc_lab.views.text.script import script_words

if TYPE_CHECKING:
    from smtc_lab.follow.run_follower import RunFollower
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.store.state import RunState
    from smtc_lab.views.run.interruptions import InterruptionInfo
    from smtc_lab.views.run.rank_info import RankMapInfo

_MOST_EVENTS = 50
_FILE_S = 0.008
"""Least time from one look for events to the next, for each file: 5 % of a core."""


class RunDescriber:
    """Makes the ``RunInfo`` of a run, and knows when there is a new one.

    Args:
        follower: Of the run; ``look`` is called from the thread that calls its ``look``.
    """

    def __init__(self, follower: RunFollower) -> None:
        self._follower = follower
        self._summarizer = RunSummarizer(follower)
        self._changes = Changes()
        self._pace = FilePace(_FILE_S)
        self._rows: dict[str, int] = {}
        self._events: list[EventRecord] = []
        self._told: tuple[object, ...] = ()
        self.problem = ""
        """Why the run cannot be followed further; empty: it can."""

    def look(self, *, last: bool = False) -> bool:
        """Take in what is new; False: the description has not changed.

        Args:
            last: The run has ended: take in its end.
        """
        found = False
        try:
            found = self._look_at_events(last=last)
            found = self._summarizer.look(usd_per_hour=self._usd_per_hour(), last=last) or found
        except SmtcLabError as error:
            self.problem = str(error)
        metrics = metric_infos(self._follower.metrics)
        told = (self._follower.state, self._follower.reports, metrics, self.problem)
        found = found or last or told != self._told
        self._told = told
        return found

    def elapsed_s(self) -> float | None:
        """Return how long the run has lasted in seconds; None: it has not begun."""
        state = self._follower.state
        return lasted_s(state.started_s, state.ended_s)

    def describe(self) -> RunInfo:
        """Return what is known now."""
        follower = self._follower
        job, state, plan = follower.job, follower.state, follower.plan
        emulated = (evidence := evidence_of(job)) == "emulated"
        launcher = fmt.brief(str(plan.get("launcher", "")))
        usd_per_hour, elapsed_s = self._usd_per_hour(), self.elapsed_s()
        bill = self._bill(usd_per_hour)
        return RunInfo(
            job_name=follower.folder.job_name,
            cluster=job.cluster.label,
            launcher=launcher,
            runs_here=runs_here(launcher),
            is_billed=is_billed(launcher),
            entry_point=fmt.brief(script_words(job)),
            python_environment=fmt.brief(follower.python_environment),
            state=state.state,
            secondary=state.secondary,
            attempts=len(state.attempts),
            can_interrupt=takes_instances(launcher) and not state.is_terminal,
            reason=fmt.brief_lines(_reason(state)),
            ended=state.is_terminal,
            elapsed_s=elapsed_s,
            billed_s=state.billed_s,
            max_steps=job.max_steps,
            steps=follower.steps.num_rows if follower.has_looked else None,
            evidence=evidence,
            emulation=of_run(job),
            device_step_time_s=follower.fact("device_step_time_s") if emulated else None,
            groups=self._groups(),
            spread=spread_of(follower),
            usd_per_hour=usd_per_hour,
            price_notes=tuple(map(fmt.brief, plan.get("price_notes", ()))),
            usd_so_far=self._usd_so_far(bill),
            bill=bill,
            interruptions=self._interruptions(usd_per_hour),
            spot=spot_info(state, elapsed_s=elapsed_s, is_spot=job.use_spot_instances),
            compiler=self._compiler(),
            predicted_step_time_s=predicted_step_time_s(follower.folder),
            summary=self._summarizer.latest,
            rank_map=self._rank_map(),
            pipeline=self._summarizer.pipeline,
            metrics=metric_infos(follower.metrics),
            metrics_left_out=follower.metrics.num_left_out,
            events=self._told_events(),
            findings=told(self._summarizer.findings),
            problem=fmt.brief(self.problem),
        )

    def _bill(self, usd_per_hour: float | None) -> Bill:
        state, summarizer = self._follower.state, self._summarizer
        return bill_of(
            started_s=state.started_s,
            steps=summarizer.steps_s,
            ended_s=state.ended_s,
            usd_per_hour=usd_per_hour,
            evidence=evidence_of(self._follower.job),
            interrupted=interrupted(state.attempts, summarizer.times_s, ended_s=state.ended_s),
            dilation=self._follower.dilation,
        )

    def _usd_so_far(self, bill: Bill) -> float | None:
        return usd_of_run(
            evidence=evidence_of(self._follower.job),
            whole_s=self._follower.state.billed_s,
            steps_s=bill.steps_s,
            usd_per_hour=self._usd_per_hour(),
        )

    def _interruptions(self, usd_per_hour: float | None) -> tuple[InterruptionInfo, ...]:
        return interruption_infos(
            self._follower.state,
            self._summarizer.times_s,
            begin_s=self._follower.begin_s,
            usd_per_hour=usd_per_hour,
            evidence=evidence_of(self._follower.job),
        )

    def _rank_map(self) -> RankMapInfo | None:
        """Return who works how long; of stages their pipeline tells it, and in what."""
        summarizer = self._summarizer
        return summarizer.ranks.map if summarizer.pipeline is None else None

    def _usd_per_hour(self) -> float | None:
        return number_of(self._follower.plan, "usd_per_hour")

    def _groups(self) -> tuple[GroupInfo, ...]:
        follower = self._follower
        roles = {
            instance.get("host"): fmt.brief(str(instance.get("role", "")))
            for instance in follower.plan.get("instances", ())
        }
        hosts = follower.job.cluster.hosts()
        groups = []
        for group in follower.job.cluster.instance_groups:
            name = group.instance_group_name
            own = tuple(host for host, of in hosts.items() if of.instance_group_name == name)
            groups.append(
                GroupInfo(
                    name=name,
                    instance_type=group.instance_type,
                    instance_count=group.instance_count,
                    role=roles.get(own[0], ""),
                    hosts=own,
                    cpu_quota_cores=follower.quota_cores(own[0]),
                )
            )
        return tuple(groups)

    def _compiler(self) -> CompilerInfo | None:
        config = self._follower.job.compiler_config
        if config is None or not config.enabled:
            return None
        report = next(iter(self._follower.reports.values()), None)
        if report is None:
            return CompilerInfo(backend=config.backend, words=())
        words = [report.fell_back_because, report.chosen_because]
        if report.compile_time is not None:
            words.append(f"Compile time: {compile_time_words(report.compile_time)}.")
        return CompilerInfo(
            backend=fmt.brief(report.backend),
            words=tuple(fmt.brief(each) for each in words if each),
        )

    def _told_events(self) -> tuple[EventInfo, ...]:
        begin_s = self._follower.begin_s
        return tuple(
            EventInfo(
                time_s=0.0 if begin_s is None else max(0.0, event.time_s - begin_s),
                kind=fmt.brief(event.kind),
                host=fmt.brief(event.host),
                message=fmt.brief(event.message),
            )
            for event in self._events
        )

    def _look_at_events(self, *, last: bool) -> bool:
        found = False
        num_files = len(self._follower.steps.paths) + len(self._follower.hosts)
        if not self._pace.is_due(num_files, is_last=last):
            return False
        for path in self._follower.folder.record_files():
            if not self._changes.in_file(path):
                continue
            new, self._rows[path.stem] = read_records(
                path, EventRecord, after=self._rows.get(path.stem, 0)
            )
            self._events += new
            found = found or bool(new)
        if found:
            self._events.sort(key=lambda event: event.time_s)
            del self._events[:-_MOST_EVENTS]
        return found


def _reason(state: RunState) -> str:
    """Return why a run is in its state: while it waits for instances, where others went."""
    if state.word == "Interrupted" and not state.reason:
        return state.attempts[-1].interrupted_by if state.attempts else ""
    return state.reason
