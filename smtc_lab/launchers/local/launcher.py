"""The local launcher: every instance is a process tree of this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.dilation import common_dilation
from smtc_lab.launchers.launcher import LaunchPlan, Leftover
from smtc_lab.launchers.local.plan import check, make_plan
from smtc_lab.launchers.local.run import write_run
from smtc_lab.launchers.supervision.supervised import SupervisedLauncher
from smtc_lab.machine.cores import available_cores
from smtc_lab.machine.processes import end_all, processes_with_variable
from smtc_lab.machine.quota.cgroups import remove_leftover_groups
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import is_in_good_hands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.job import TrainingJob

DEFAULT_GRACE_S = 1.5
"""Time between TERM and KILL. SageMaker gives 120 s; nobody pays for a local instance."""


class LocalLauncher(SupervisedLauncher):
    """Runs every instance of a job as a process tree of this machine. Linux only."""

    name = "local"
    end_limit_s = DEFAULT_GRACE_S + 5.0
    takes_instances = True

    def check(self, job: TrainingJob) -> list[str]:
        """Return every reason why this machine cannot run the job; empty: it can."""
        return check(job, self._catalog)

    def plan(self, job: TrainingJob) -> LaunchPlan:
        """Return the exact request: hosts, addresses, quotas, processes, price.

        Raises:
            SpecError: The job cannot run here; all reasons at once.
        """
        grace_s = DEFAULT_GRACE_S if job.market is None else job.market.notice_s
        return make_plan(job, self._catalog, grace_s=grace_s)

    def common_dilation(self, jobs: Sequence[TrainingJob]) -> float | None:
        """Return the least time dilation at which the largest of several jobs fits here."""
        return common_dilation(jobs, self._catalog, cores=available_cores())

    def _write(self, folder: RunFolder, plan: LaunchPlan) -> None:
        write_run(folder, plan)

    def sweep(self, *, stop: bool = False) -> list[Leftover]:
        """Return what is left of runs whose supervisor is gone; with ``stop``, end it.

        A launcher that was given a root looks at the runs in it; others at all of this machine.
        """
        by_run: dict[str, list[int]] = {}
        for pid, run_id in processes_with_variable(RUN_VARIABLE).items():
            if pid != os.getpid():
                by_run.setdefault(run_id, []).append(pid)
        leftovers = []
        for run_id, pids in sorted(by_run.items()):
            folder = RunFolder(Path(run_id))
            elsewhere = folder.path.parent != self._root and not self._sweeps_all
            if elsewhere or is_in_good_hands(folder):
                continue
            leftovers.append(
                Leftover(
                    job_name=folder.job_name,
                    what=f"{len(pids)} processes of a run that is over",
                    pids=tuple(sorted(pids)),
                )
            )
            if stop:
                end_all(lambda run_id=run_id: _members(run_id), grace_s=0.5)  # type: ignore[misc]
                remove_leftover_groups(f"{folder.job_name}-")
        return leftovers


def _members(run_id: str) -> list[int]:
    found = processes_with_variable(RUN_VARIABLE, run_id)
    return [pid for pid in found if pid != os.getpid()]
