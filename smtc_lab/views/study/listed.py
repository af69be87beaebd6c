"""One study of the list, followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.result import evidence_of
from smtc_lab.study.folder import COMPARISON, StudyFolder, read_request, read_study_state
from smtc_lab.views.live.list_row import LIVE, Row, known_sum
from smtc_lab.views.live.listed import Listed
from smtc_lab.views.text.format import brief
from smtc_lab.views.text.script import script_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from smtc_lab.study.folder import LaunchedRun


class ListedStudy(Listed):
    """A study of the list. Only one thread may look.

    Args:
        path: The study.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, COMPARISON, ("request.json", "state.json"))
        self.folder = StudyFolder(path)
        """The study."""
        self.launches: tuple[LaunchedRun, ...] = ()
        """Its launches so far, which are rows too."""
        self._has_rounds = False

    def _read(self) -> Row:
        request = read_request(self.folder)
        jobs = request.jobs
        self._has_rounds = request.rounds > 0
        planned = [job.max_steps for job in jobs if job.max_steps is not None]
        is_known = self._has_rounds and len(planned) == len(jobs)
        return {
            **self.row,
            "kind": request.kind,
            "cluster": brief(", ".join(job.cluster.label for job in jobs)),
            "entry_point": brief(script_words(jobs[0])),
            "max_steps": request.rounds * sum(planned) if is_known else None,
            "evidence": evidence_of(*jobs),
        }

    def _standing(self, runs: Mapping[str, Row]) -> Row:
        state = read_study_state(self.folder)
        self.launches = tuple(state.runs)
        found = [run for run in state.runs if run.job_name in runs]
        launches = [runs[run.job_name] for run in found]
        live = [launch for launch in launches if launch["state"] in LIVE]
        # launches beside the rounds, for parity say, are in no plan of the steps
        in_plan = [run for run in found if run.round is not None or not self._has_rounds]
        counts = [runs[run.job_name]["steps"] for run in in_plan]
        # the steps of launches that ended are counted a little later
        self.is_final = state.is_terminal and None not in counts
        return {
            **self.row,
            "state": state.state,
            "reason": brief(state.reason),
            "started_s": state.started_s,
            "ended_s": state.ended_s,
            "usd_per_hour": live[-1]["usd_per_hour"] if live else None,
            "is_billed": launches[-1]["is_billed"] if launches else None,
            "usd_so_far": known_sum([launch["usd_so_far"] for launch in launches]),
            "steps": sum(count for count in counts if count is not None) if in_plan else None,
            "newest_run": state.runs[-1].job_name if state.runs else None,
        }
