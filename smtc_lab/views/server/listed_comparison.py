"""One comparison of the list, followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.changes import Changes
from smtc_lab.study.folder import read_request, read_study_state
from smtc_lab.views.server.list_row import DAMAGED, LIVE, Row, damaged_row, empty_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.study.folder import StudyFolder, StudyState


class ListedComparison:
    """A comparison of the list. Only one thread may look.

    Args:
        folder: The comparison.
    """

    def __init__(self, folder: StudyFolder) -> None:
        self.folder = folder
        """The comparison."""
        self.row: Row = empty_row(folder.name, "comparison")
        """What the list tells of it; another object once that has changed."""
        self._is_read = False
        self._is_final = False
        self._files = Changes()

    def look(self, runs: Mapping[str, Row]) -> None:
        """Take in where it stands. Nothing is opened of a comparison that has ended.

        Args:
            runs: The rows of all runs, by name.
        """
        if self._is_final or (self.row["state"] == DAMAGED and not self._has_changed()):
            return
        try:
            if not self._is_read:
                self._read()
            state = read_study_state(self.folder)
        except (SmtcLabError, OSError) as error:
            self._has_changed()  # it is read again when it has
            self.row = damaged_row(self.row, error)
            return
        launches = [runs[run.job_name] for run in state.runs if run.job_name in runs]
        row = self._standing(state, launches)
        if row != self.row:
            self.row = row
        # the steps of launches that ended are counted a little later
        self._is_final = state.is_terminal and all(
            launch["steps"] is not None for launch in launches
        )

    def _has_changed(self) -> bool:
        files = (self.folder.request_file, self.folder.state_file)
        return any(self._files.in_file(path) for path in files)

    def _read(self) -> None:
        request = read_request(self.folder)
        jobs = request.jobs
        planned = [job.max_steps for job in jobs if job.max_steps is not None]
        is_emulated = any(job.emulation is not None for job in jobs)
        self._is_read = True
        self.row = {
            **self.row,
            "cluster": ", ".join(job.cluster.label for job in jobs),
            "entry_point": jobs[0].entry_point,
            "max_steps": request.rounds * sum(planned) if len(planned) == len(jobs) else None,
            "evidence": "emulated" if is_emulated else "measured",
        }

    def _standing(self, state: StudyState, launches: list[Row]) -> Row:
        live = [launch for launch in launches if launch["state"] in LIVE]
        spent = [launch["usd_so_far"] for launch in launches]
        counts = [launch["steps"] for launch in launches]
        return {
            **self.row,
            "state": state.state,
            "reason": state.reason,
            "started_s": state.started_s,
            "ended_s": state.ended_s,
            "usd_per_hour": live[-1]["usd_per_hour"] if live else None,
            "usd_so_far": known_sum(spent),
            "steps": sum(count for count in counts if count is not None) if launches else None,
            "step_time_s": launches[-1]["step_time_s"] if launches else None,
        }


def known_sum(values: list[float | None]) -> float | None:
    """Return the sum of some numbers; None: one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
