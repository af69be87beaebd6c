"""Runs one launch to its end, telling how far it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from smtc_lab.launch.run import Run
from smtc_lab.metrics.records import StepRecord
from smtc_lab.store.reader import read_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launch.launcher import Launcher, LaunchPlan

_LOOK_S = 0.5


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
    """Steps that have ended in this launch, all ranks."""

    max_steps: int | None
    """Steps that this launch will take on each rank; None: not known."""

    elapsed_s: float
    """Seconds since the comparison began."""

    mean_step_time_s: float | None
    """Mean step time of this launch so far, warm-up included; None: no step yet."""


@dataclass(kw_only=True)
class Watch:
    """Tells somebody how far several launches are."""

    launches: int
    """Launches in all."""

    progress: Callable[[Progress], None] | None
    """Called about twice a second while steps are made; None: nobody listens."""

    begun: int = 0
    """Launches that have begun."""

    began_s: float = field(default_factory=time.monotonic)
    """When the first one began, on the monotonic clock."""


def run_watched(launcher: Launcher, plan: LaunchPlan, watch: Watch, *, name: str) -> Run:
    """Run one launch to its end, whatever that is, and return it. An interrupt stops it.

    Args:
        launcher: Where it runs.
        plan: What runs.
        watch: Who is told how far it is; counts the launch.
        name: What progress calls it.

    Raises:
        LauncherError: It could not be started.
    """
    watch.begun += 1
    begin = Progress(
        launch=watch.begun,
        launches=watch.launches,
        cluster=name,
        steps=0,
        max_steps=plan.job.max_steps,
        elapsed_s=0.0,
        mean_step_time_s=None,
    )
    run = Run(launcher, launcher.start(plan))
    counter = _StepCounter(run)
    try:
        while not run.state.is_terminal:
            launcher.wait(run.handle, _LOOK_S)
            if watch.progress is not None:
                counter.look()
                elapsed_s = time.monotonic() - watch.began_s
                watch.progress(counter.progress(begin, elapsed_s))
    except BaseException:
        run.stop()
        raise
    return run


class _StepCounter:
    """Follows the step records of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rows: dict[Path, int] = {}
        self._steps = 0
        self._total_s = 0.0

    def look(self) -> None:
        for path in self._run.folder.records.glob("*-rank*.sqlite"):
            found, self._rows[path] = read_records(
                path, StepRecord, after=self._rows.get(path, 0)
            )
            self._steps += len(found)
            self._total_s += sum(record.step_time_s for record in found)

    def progress(self, begin: Progress, elapsed_s: float) -> Progress:
        return replace(
            begin,
            steps=self._steps,
            elapsed_s=elapsed_s,
            mean_step_time_s=self._total_s / self._steps if self._steps else None,
        )
