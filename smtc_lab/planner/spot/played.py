"""Jobs on spot and on-demand instances, many at once: an array for each of their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Which = NDArray[np.bool_]

_FEW = 0.1
_KEPT = ("now_s", "spot_s", "on_demand_s", "lost_s", "interruptions")


@dataclass(frozen=True, kw_only=True)
class SpotTerms:
    """What a job has to do, and by when."""

    work_s: float
    """Time of its steps, in seconds."""

    save_s: float
    """For how long a save holds them up, in seconds."""

    restart_s: float
    """From an instance that is there to the next step, in seconds."""

    deadline_s: float | None
    """When it must have ended, in seconds from now; None: whenever."""


class PlayedJobs:
    """Jobs that go through their futures, and what became of those that have ended.

    A save comes after each ``every_s`` of work, and at the end. Those that have ended leave the
    arrays by and by, so that each step works on what still goes on.

    Args:
        terms: What each has to do.
        every_s: Work between two saves of each, in seconds, shape (J,).
    """

    def __init__(self, terms: SpotTerms, every_s: Floats) -> None:
        jobs = len(every_s)
        self.terms = terms
        self.every_s = every_s
        self.place = np.arange(jobs)
        """Which job each is, shape (R,) of those that still go on."""
        self.now_s = np.zeros(jobs)
        """When it is there, in seconds from the begin."""
        self.left_s = np.full(jobs, terms.work_s)
        """Work that no save holds yet, in seconds; 0: it has ended."""
        self.spot_s = np.zeros(jobs)
        """Time on spot instances, in seconds."""
        self.on_demand_s = np.zeros(jobs)
        """Time on on-demand instances, in seconds."""
        self.lost_s = np.zeros(jobs)
        """Work that had to be done again, in seconds."""
        self.interruptions = np.zeros(jobs)
        """Spot instances that were taken away."""
        self.ended = {name: np.zeros(jobs) for name in _KEPT}
        """The same of all jobs as they ended, each of shape (J,)."""
        self.has_ended = np.zeros(jobs, dtype=bool)
        """Which have ended; the numbers of others are those of ``give_up``."""

    @property
    def slack_s(self) -> Floats:
        """What is left before only an on-demand instance from now on keeps the deadline."""
        terms = self.terms
        until_s = math.inf if terms.deadline_s is None else terms.deadline_s
        slack_s: Floats = until_s - terms.restart_s - terms.save_s - self.now_s - self.left_s
        return slack_s

    def wait_until(self, moment_s: Floats) -> None:
        """Wait for a moment; where it is over, not at all."""
        np.maximum(self.now_s, moment_s, out=self.now_s, where=self.left_s > 0)

    def end_on_demand(self, which: Which) -> None:
        """Take on-demand instances now and up to the end."""
        which = which & (self.left_s > 0)
        taken_s = np.where(which, self.terms.restart_s + self.left_s + self.terms.save_s, 0.0)
        self.now_s += taken_s
        self.on_demand_s += taken_s
        self.left_s[which] = 0.0

    def take_on_demand(self, which: Which, until_s: Floats) -> None:
        """Take on-demand instances now, and save and leave them before the end.

        Work that took less than a save is not saved.

        Args:
            which: Which jobs.
            until_s: When they stop to work, in seconds from the begin, before their work ends.
        """
        worked_s = np.maximum(0.0, until_s - self.now_s - self.terms.restart_s)
        is_saved = worked_s > self.terms.save_s
        taken_s = until_s - self.now_s + np.where(is_saved, self.terms.save_s, 0.0)
        taken_s = np.where(which, taken_s, 0.0)
        self.now_s += taken_s
        self.on_demand_s += taken_s
        self.lost_s += np.where(which & ~is_saved, worked_s, 0.0)
        self.left_s -= np.where(which & is_saved, worked_s, 0.0)

    def take_spot(self, ends_s: Floats, *, keeps_deadline: bool) -> None:
        """Take spot instances now, up to the end of the job or of their window.

        Args:
            ends_s: When they are taken away, in seconds from the begin.
            keeps_deadline: Whether to change to on-demand instances after the last save from
                which on the deadline can be kept, whatever comes.
        """
        save_s, every_s = self.terms.save_s, self.every_s
        room_s = np.maximum(0.0, ends_s - self.now_s - self.terms.restart_s)
        saves = np.ceil(self.left_s / every_s)
        whole_s = self.left_s + saves * save_s
        done = np.floor(room_s / (every_s + save_s))
        on = (self.left_s > 0) & (ends_s > self.now_s)
        ends = on & (whole_s <= room_s)
        leaves = np.zeros_like(on)
        if keeps_deadline:
            allowed, is_allowed = self._allowed(saves)
            ends &= is_allowed
            leaves = on & ~is_allowed & (allowed <= done)
            done = np.where(leaves, allowed, done)
        cut = on & ~ends & ~leaves
        worked_s = np.where(ends, whole_s, done * (every_s + save_s))
        self.lost_s += np.where(cut, room_s - worked_s, 0.0)
        taken_s = np.where(cut, ends_s - self.now_s, self.terms.restart_s + worked_s)
        taken_s = np.where(on & ~(leaves & (done == 0)), taken_s, 0.0)
        self.spot_s += taken_s
        self.now_s += taken_s
        self.interruptions += cut
        self.left_s = np.where(ends, 0.0, self.left_s - np.where(on, done * every_s, 0.0))
        if keeps_deadline:
            self.end_on_demand(leaves)

    def _allowed(self, saves: Floats) -> tuple[Floats, Which]:
        """Return after how many saves the slack is used up, and whether that is the end.

        A save makes what it took less, and no more may be lost than is left at the last one.
        """
        save_s, every_s = self.terms.save_s, self.every_s
        slack_s = self.slack_s - self.terms.restart_s
        allowed = np.maximum(0.0, np.floor((slack_s - every_s) / save_s))
        before = saves - 1
        last_s = self.left_s - before * every_s
        is_last_allowed = slack_s - before * save_s >= last_s + save_s
        return allowed, (allowed >= before) & is_last_allowed

    def leave_ended(self) -> None:
        """Keep the numbers of those that have ended, and go on with the others."""
        over = self.left_s <= 0
        # those that have ended stay as they are meanwhile: copying arrays takes time, too
        if np.count_nonzero(over) < min(len(over), _FEW * len(over) + 1):
            return
        self._keep(over)
        self.has_ended[self.place[over]] = True
        for name in (*_KEPT, "place", "every_s", "left_s"):
            setattr(self, name, getattr(self, name)[~over])

    def give_up(self) -> None:
        """Keep the numbers of those that still go on as they are."""
        self._keep(np.ones(len(self.place), dtype=bool))

    def _keep(self, which: Which) -> None:
        for name, kept in self.ended.items():
            kept[self.place[which]] = getattr(self, name)[which]
