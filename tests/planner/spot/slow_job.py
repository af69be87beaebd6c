"""One job on spot instances at a time, save by save: slow, and written for nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class SlowJob:
    work_s: float
    save_s: float
    restart_s: float
    every_s: float
    deadline_s: float = 0.0
    now_s: float = 0.0
    spot_s: float = 0.0
    on_demand_s: float = 0.0
    lost_s: float = 0.0

    def __post_init__(self) -> None:
        self.left_s = self.work_s

    @property
    def latest_s(self) -> float:
        return self.deadline_s - self.restart_s - self.left_s - self.save_s

    def end_on_demand(self) -> None:
        taken_s = self.restart_s + self.left_s + self.save_s
        self.now_s += taken_s
        self.on_demand_s += taken_s
        self.left_s = 0.0

    def run_on_spot(self, until_s: float, *, keeps_deadline: bool) -> None:
        """Go on from save to save until it is taken away, or must not be relied on."""
        begin_s = self.now_s
        piece_s = min(self.every_s, self.left_s) + self.save_s
        if keeps_deadline and begin_s + self.restart_s + piece_s > self.latest_s:
            self.end_on_demand()
            return
        self.now_s += self.restart_s
        while self.left_s > 0:
            piece_s = min(self.every_s, self.left_s) + self.save_s
            if keeps_deadline and self.now_s + piece_s > self.latest_s:
                self.spot_s += self.now_s - begin_s
                self.end_on_demand()
                return
            if self.now_s + piece_s > until_s:
                self.lost_s += max(0.0, until_s - self.now_s)
                self.now_s = until_s
                break
            self.now_s += piece_s
            self.left_s -= min(self.every_s, self.left_s)
        self.spot_s += self.now_s - begin_s


def spot_only(job: SlowJob, windows: Iterator[tuple[float, float]]) -> SlowJob:
    while job.left_s > 0:
        start_s, end_s = next(windows)
        job.now_s = max(job.now_s, start_s)
        job.run_on_spot(end_s, keeps_deadline=False)
    return job


def greedy(job: SlowJob, windows: Iterator[tuple[float, float]]) -> SlowJob:
    while job.left_s > 0:
        start_s, end_s = next(windows)
        if start_s > job.latest_s:
            job.now_s = max(job.now_s, job.latest_s)
            job.end_on_demand()
            return job
        job.now_s = max(job.now_s, start_s)
        job.run_on_spot(end_s, keeps_deadline=True)
    return job


def uniform_progress(job: SlowJob, windows: Iterator[tuple[float, float]]) -> SlowJob:
    while job.left_s > 0:
        start_s, end_s = next(windows)
        while job.left_s > 0 and job.now_s < start_s:
            _until(job, start_s)
        if job.left_s > 0 and job.now_s < end_s:
            job.run_on_spot(end_s, keeps_deadline=True)
    return job


def _until(job: SlowJob, start_s: float) -> None:
    rate = job.work_s / job.deadline_s
    done_s = job.work_s - job.left_s
    job.now_s = max(job.now_s, min(done_s / rate, job.latest_s, start_s))
    if job.now_s >= start_s:
        return
    change_s = job.restart_s + job.save_s
    if job.latest_s - job.now_s <= change_s:
        job.end_on_demand()
        return
    begin_s = job.now_s
    ready_s = begin_s + job.restart_s
    margin_s = max(2 * change_s, job.deadline_s / 500)
    caught_up_s = ready_s + (rate * (ready_s + margin_s) - done_s) / (1 - rate)
    leave_s = min(start_s, caught_up_s)
    if ready_s + job.left_s <= leave_s:
        job.end_on_demand()
        return
    worked_s = max(0.0, leave_s - ready_s)
    job.now_s = leave_s
    if worked_s > job.save_s:
        job.now_s += job.save_s
        job.left_s -= worked_s
    else:
        job.lost_s += worked_s
    job.on_demand_s += job.now_s - begin_s
