"""Runs one launch to its end, telling how far it is."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import RunFailedError
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.launchers.run import Run
from smtc_lab.launchers.special_launch import in_own_folder
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RANK_RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from smtc_lab.launchers.launcher import Launcher, LaunchPlan

STUDY = "study"
"""Fact of a plan: name of the study that it is a launch of."""

_LOOK_S = 0.5
LOOK_S = 0.5
"""Time between two tellings of how far a launch is, in seconds."""

_RANK_S = 0.008
"""Least time from one count of the steps of many ranks to the next, for each of them."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a comparison stands."""

    launch: int
    """Number of the launch that runs now, from 1."""

    launches: int
    """Launches in all."""

    cluster: str
    """Name of the cluster that runs now."""

    steps: int
    """Steps that have ended in this launch, on the rank that is furthest."""

    max_steps: int | None
    """Steps that this launch will take on each rank; None: not known."""

    elapsed_s: float
    """Seconds since the comparison began."""

    mean_step_time_s: float | None
    """Mean step time of this launch so far, warm-up included; None: no step yet."""

    note: str = ""
    """What was found before the rounds and decides them, a sentence; empty: nothing."""


@dataclass(kw_only=True)
class LaunchWatch:
    """Tells somebody how far several launches are."""

    launches: int
    """Launches in all."""

    progress: Callable[[Progress], None] | None
    """Called about twice a second while steps are made; None: nobody listens."""

    begun: int = 0
    """Launches that have begun."""

    began_s: float = field(default_factory=time.monotonic)
    """When the first one began, on the monotonic clock."""

    rounds: dict[str, int] = field(default_factory=dict)
    """Round of each launch that belongs to one, from 1, by the name of its run."""

    started: Callable[[Run, str], None] | None = None
    """Called with each launch when it has started, and what it is called; None: nobody
    listens."""

    found: Callable[[str, Mapping[str, Any]], None] | None = None
    """Called with the name of a run and what it told its study, as JSON values; None: nobody
    listens."""

    note: str = ""
    """What was found before the rounds and decides them, as in ``Progress``."""

    study: str | None = None
    """Name of the study that they are launches of; None: they are of none."""

    stop: threading.Event = field(default_factory=threading.Event)
    """Set, by any thread: the launch that runs is stopped, and no other one begins."""

    is_asked_to_stop: Callable[[], bool] | None = None
    """Asked about twice a second whether to stop, as ``stop`` says; None: nobody is asked."""

    @property
    def is_stopped(self) -> bool:
        """Whether no launch is to go on."""
        asked = self.is_asked_to_stop
        return self.stop.is_set() or (asked is not None and asked())


def run_watched(launcher: Launcher, plan: LaunchPlan, watch: LaunchWatch, *, name: str) -> Run:
    """Run one launch to its end, whatever that is, and return it. An interrupt stops it.

    Args:
        launcher: Where it runs.
        plan: What runs.
        watch: Who is told how far it is; counts the launch.
        name: What progress, tables and the list of runs call it.

    Raises:
        LauncherError: It could not be started.
        RunFailedError: ``watch`` was stopped before or while it ran.
    """
    if watch.is_stopped:
        raise RunFailedError(f"{name} was not launched: the launches were stopped before it.")
    watch.begun += 1
    begin = Progress(
        launch=watch.begun,
        launches=watch.launches,
        cluster=name,
        steps=0,
        max_steps=plan.job.max_steps,
        elapsed_s=0.0,
        mean_step_time_s=None,
        note=watch.note,
    )
    plan = in_own_folder(plan)
    if watch.study is not None:
        plan = replace(plan, facts={**plan.facts, STUDY: watch.study})
    run = Run(launcher, launcher.start(plan))
    counter = StepCounter(run)
    try:
        if watch.started is not None:
            watch.started(run, name)
        while not run.state.is_terminal:
            launcher.wait(run.handle, LOOK_S)
            if watch.is_stopped:
                raise RunFailedError(  # noqa: TRY301  the run is stopped as for any other end
                    f"Launch {watch.begun} of {watch.launches} ({name}) was stopped."
                )
            if watch.progress is not None:
                elapsed_s = time.monotonic() - watch.began_s
                watch.progress(counter.progress(begin, elapsed_s))
    except BaseException:
        run.stop()
        raise
    return run


class StepCounter:
    """Counts the steps of a run while it goes on."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rows: dict[Path, int] = {}
        self._steps: Counter[Path] = Counter()
        self._total_s = 0.0
        self._pace = FilePace(_RANK_S)

    def progress(self, begin: Progress, elapsed_s: float) -> Progress:
        """Return where a comparison stands whose launch this is, by what was recorded so far.

        Args:
            begin: What is known of the launch besides its steps.
            elapsed_s: Seconds since the comparison began.
        """
        paths = self._run.folder.record_files(RANK_RECORDS)
        for path in paths if self._pace.is_due(len(paths)) else ():
            found, self._rows[path] = read_records(
                path, StepRecord, after=self._rows.get(path, 0)
            )
            self._steps[path] += len(found)
            self._total_s += sum(record.step_time_s for record in found)
        total = self._steps.total()
        return replace(
            begin,
            steps=max(self._steps.values(), default=0),
            elapsed_s=elapsed_s,
            mean_step_time_s=self._total_s / total if total else None,
        )
