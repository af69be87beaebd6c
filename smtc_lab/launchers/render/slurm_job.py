"""What Slurm does with the job that this process is in: takes its nodes away, and requeues it.

Source:
    https://slurm.schedmd.com/preempt.html; which fields tell a requeue from ``scancel``:
    https://wiki.umiacs.umd.edu/umiacs/index.php/SLURM/Preemption
"""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.store.state import read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from smtc_lab.store.run_folder import RunFolder

_TAKEN = re.compile(
    r"\b(JobState=(PREEMPTED|NODE_FAIL|REQUEUE\w*)|PreemptTime=(?!None|Unknown|N/A)\S)"
)
_ASK_LIMIT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class SlurmJob:
    """The job that this process is in."""

    number: str
    """Its number, the same after a requeue."""

    num_restarts: int
    """How often Slurm has started it again."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the job that an environment describes."""
        restarts = environ.get("SLURM_RESTART_COUNT", "0")
        return cls(
            number=environ["SLURM_JOB_ID"],
            num_restarts=int(restarts) if restarts.isdigit() else 0,
        )

    def why_taken(self) -> str:
        """Return why Slurm takes the nodes away, to start the job again; empty: it does not.

        What is cancelled is not started again, and where Slurm does not answer nothing is known
        of it.
        """
        try:
            told = subprocess.run(  # noqa: S603  Slurm's own program, no shell
                ["scontrol", "show", "job", self.number],  # noqa: S607  wherever the site has it
                capture_output=True,
                text=True,
                check=True,
                timeout=_ASK_LIMIT_S,
            ).stdout
        except (OSError, subprocess.SubprocessError):
            return ""
        restarts = [int(count) for count in re.findall(r"\bRestarts=(\d{1,9})\b", told)]
        if max(restarts, default=0) > self.num_restarts or _TAKEN.search(told):
            return f"Slurm takes the nodes of job {self.number} away, and starts it again."
        return ""


class SlurmInterrupts(Interrupts):
    """Tells what Slurm does to a spot job from what its user does.

    Args:
        job: The job.
        folder: The run's folder; time that earlier starts took counts.
        limit_s: Longest time that the run may have instances, in seconds.
        max_wait_s: Longest time from its first start to its end, in seconds; None: as long as
            it takes.
    """

    def __init__(
        self, job: SlurmJob, folder: RunFolder, *, limit_s: float, max_wait_s: float | None
    ) -> None:
        state, now_s = read_state(folder), time.time()
        used_s = [(one.ended_s or now_s) - one.started_s for one in state.attempts]
        super().__init__(
            limit_s=limit_s,
            detached=True,
            max_wait_s=max_wait_s,
            used_s=max(0.0, sum(used_s)),
            passed_s=max(0.0, now_s - (state.started_s or now_s)),
        )
        self._job = job
        self.is_taken = False
        """Whether Slurm starts the next attempt."""

    def _asked(self) -> Outcome:
        if why := self._job.why_taken():
            self.is_taken = True
            return Outcome(state="Interrupted", reason=why)
        return super()._asked()


def end_lost_attempt(folder: RunFolder) -> None:
    """Write down the end of an attempt whose supervisor ended with its nodes.

    It ended when something was written last.
    """
    state = read_state(folder)
    if not state.attempts or state.attempts[-1].ended_s is not None:
        return
    *before, last = state.attempts
    written = [
        path.stat().st_mtime
        for part in (folder.logs, folder.records)
        for path in part.iterdir()
    ]
    lost = replace(
        last,
        ended_s=max([last.started_s, *written]),
        interrupted_by="Slurm took the nodes away, and started the job again.",
    )
    write_state(folder, replace(state, attempts=(*before, lost)))
