"""Tries one batch size in a process of its own, which may run out of memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.special_launch import with_memory_limit
from smtc_lab.metrics.batch.batch_sizes import BatchTrial
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.study.comparison.completed import NO_STEP_AFTER_OTHERS
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.watched_run import run_watched

if TYPE_CHECKING:
    from datetime import datetime

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import LaunchWatch

_OUT_OF_MEMORY = re.compile(
    r"MemoryError|(can't|[Cc]annot|[Ff]ailed to) allocate|[Oo]ut of memory|OutOfMemory"
    r"|bad_alloc|RESOURCE_EXHAUSTED"
)
"""What torch, XLA, Python, C++ and CUDA say when memory is at its end."""

_NO_STACK = re.compile("can't start new thread")
"""What Python says under a memory limit that leaves no place for a thread's stack."""

_NO_BATCH = "The dataloader had no batch"
_KILLED = {128 + 9: "SIGKILL"}
_ENDED_UNDER_A_LIMIT = {128 + 6: "SIGABRT", 128 + 7: "SIGBUS", 128 + 11: "SIGSEGV"}
"""Exit codes of processes that the system, or a library that got no memory, has ended."""

_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: .*?(--[\w-]+)")
"""What argparse says of an option that a script does not have."""

_LAST_LINES = 40


@dataclass(kw_only=True)
class BatchProbe:
    """Launches a job with one batch size after another."""

    launcher: Launcher
    """Where trials run."""

    job: TrainingJob
    """What they run, but for the batch size."""

    hyperparameter: str
    """Name of the hyperparameter that holds the batch size."""

    memory_limit_bytes: int | None
    """Memory that a trainer process may take; None: as much as there is."""

    watch: LaunchWatch
    """Is told of each launch and of what it found out; may stop them."""

    created: datetime
    """Moment that the launches are named by."""

    _first: tuple[int, int] | None = None

    def __call__(self, batch_size: int) -> BatchTrial:
        """Return how the job's steps go with this batch size."""
        values = {**self.job.hyperparameters, self.hyperparameter: batch_size}
        label = self.job.cluster.label
        name = launch_name(self.job.entry_point, label, f"b{batch_size}", stamp=self.created)
        job = self.job.model_copy(update={"hyperparameters": values, "job_name": name})
        plan = with_memory_limit(self.launcher.plan(job), self.memory_limit_bytes)
        self.watch.launches = self.watch.begun + 1
        run = run_watched(self.launcher, plan, self.watch, name=label)
        if run.status == "Completed":
            trial = self._measured(batch_size, run.records())
        elif _NO_BATCH in run.state.reason:
            trial = BatchTrial(batch_size=batch_size, fits=False, run=name)
            trial = _beyond_dataset(trial, _too_few(batch_size))
        else:
            fits, reason = why_it_failed(run, is_limited=self.memory_limit_bytes is not None)
            trial = BatchTrial(batch_size=batch_size, fits=fits, reason=reason, run=name)
        if self.watch.found is not None:
            self.watch.found(name, trial.model_dump(mode="json"))
        return trial

    def _measured(self, batch_size: int, records: RunRecords) -> BatchTrial:
        """Return the trial of a run that completed, if it really had batches of this size."""
        trial = BatchTrial(batch_size=batch_size, fits=False, run=str(records.job.job_name))
        launch = measured_launch(records)
        if launch is None and self._first is not None and records.job.working_dir == "here":
            why = f"its launch {NO_STEP_AFTER_OTHERS}"
            return trial.model_copy(update={"fits": None, "reason": why})
        if launch is None:
            return _beyond_dataset(trial, _too_few(batch_size))
        taken = max(
            step.num_samples or 0
            for steps in records.steps.values()
            for step in steps[launch.warm_up_steps :]
        )
        known = launch.num_samples()
        if (
            known is not None
            and (missed := self._missed(trial, taken, len(records.steps))) is not None
        ):
            return missed
        settled_s = float(launch.step_time_s[len(launch.step_time_s) // 2 :].mean())
        samples = None if known is None else known / len(launch.step_time_s)
        return trial.model_copy(
            update={
                "fits": True,
                "step_time_s": settled_s,
                "samples_per_s": None if samples is None else samples / settled_s,
                "peak_memory_bytes": _peak_memory_bytes(records),
            }
        )

    def _missed(self, trial: BatchTrial, taken: int, trainers: int) -> BatchTrial | None:
        """Return the trial of steps that did not take the batch that they should, or None.

        A step may accumulate gradients of several batches: the first trial tells how many.
        """
        batch_size = trial.batch_size
        is_first = self._first is None
        if is_first and taken >= batch_size:
            self._first = (batch_size, taken)
        first_size, first_taken = self._first or (batch_size, batch_size)
        if taken * first_size >= batch_size * first_taken:
            return None
        if taken == first_taken > first_size:
            words = (
                f"The script took {taken} samples in a step for {self.hyperparameter}="
                f"{first_size} and for {batch_size} alike, so it does not read that "
                "hyperparameter. Give the name of the one that holds its batch size."
            )
            raise RunFailedError(words)  # what fitted before was of another size
        if first_size == first_taken < taken and not is_first:
            share = " for each trainer" if trainers > 1 else ""
            return _beyond_dataset(trial, f"the dataset has only {taken} samples{share}")
        return _beyond_dataset(
            trial,
            f"a step had {taken} samples at most: the dataset has no more, or the script does "
            f"not read {self.hyperparameter!r}",
        )


def why_it_failed(run: Run, *, is_limited: bool) -> tuple[bool | None, str]:
    """Return whether a failed launch ran out of memory, and its reason.

    False: it ran out of memory, so that the batch does not fit. None: anything else.

    Args:
        run: The launch.
        is_limited: Whether its memory was limited, so that a crash is most likely for want of
            it.
    """
    state = run.state
    last_lines = run.logs().splitlines()[-_LAST_LINES:]
    for text in (state.reason, *reversed(last_lines)):
        found = _OUT_OF_MEMORY.search(text) or (is_limited and _NO_STACK.search(text))
        if found:
            return False, f"out of memory ({found.group()})"
    signals = _KILLED | (_ENDED_UNDER_A_LIMIT if is_limited else {})
    for code in state.exit_codes.values():
        if code in signals:
            return False, f"out of memory (ended by {signals[code]})"
    told = f"{run.job_name} ended as {state.state}. {state.reason}"
    if found := _UNKNOWN_OPTION.search("\n".join(last_lines)):
        told += (
            f" The script takes no option {found.group(1)}: name the one that holds its batch "
            "size (--name batch-size, say)."
        )
    return None, told


def _beyond_dataset(trial: BatchTrial, reason: str) -> BatchTrial:
    return trial.model_copy(update={"reason": reason, "is_beyond_dataset": True})


def _too_few(batch_size: int) -> str:
    return f"the dataset has fewer samples than one batch of {batch_size}"


def _peak_memory_bytes(records: RunRecords) -> int | None:
    known = [
        report.peak_memory_bytes
        for report in records.compiler.values()
        if report.peak_memory_bytes is not None
    ]
    return max(known, default=None)
