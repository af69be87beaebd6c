"""One study of the list, followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.study.folder import COMPARISON, StudyFolder, read_request, read_study_state
from smtc_lab.views.live.list_row import LIVE, Row, known_sum
from smtc_lab.views.live.listed import Listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class ListedStudy(Listed):
    """A study of the list. Only one thread may look.

    Args:
        path: The study.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, COMPARISON, ("request.json", "state.json"))
        self.folder = StudyFolder(path)
        """The study."""

    def _read(self) -> Row:
        request = read_request(self.folder)
        jobs = request.jobs
        planned = [job.max_steps for job in jobs if job.max_steps is not None]
        is_known = request.rounds > 0 and len(planned) == len(jobs)
        is_emulated = any(job.emulation is not None for job in jobs)
        return {
            **self.row,
            "kind": request.kind,
            "cluster": ", ".join(job.cluster.label for job in jobs),
            "entry_point": jobs[0].entry_point,
            "max_steps": request.rounds * sum(planned) if is_known else None,
            "evidence": "emulated" if is_emulated else "measured",
        }

    def _standing(self, runs: Mapping[str, Row]) -> Row:
        state = read_study_state(self.folder)
        launches = [runs[run.job_name] for run in state.runs if run.job_name in runs]
        live = [launch for launch in launches if launch["state"] in LIVE]
        counts = [launch["steps"] for launch in launches]
        # the steps of launches that ended are counted a little later
        self.is_final = state.is_terminal and None not in counts
        return {
            **self.row,
            "state": state.state,
            "reason": state.reason,
            "started_s": state.started_s,
            "ended_s": state.ended_s,
            "usd_per_hour": live[-1]["usd_per_hour"] if live else None,
            "usd_so_far": known_sum([launch["usd_so_far"] for launch in launches]),
            "steps": sum(count for count in counts if count is not None) if launches else None,
            "step_time_s": launches[-1]["step_time_s"] if launches else None,
        }
