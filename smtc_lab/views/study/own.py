"""What a kind of study follows and says of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.study.follower import StudyFollower
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.study.info import Section
    from smtc_lab.views.text.set_ups import RowInfo


class StudyOwn:
    """What any study can be followed by, and what can be said of it."""

    name: str
    """A word for people."""

    def follower(self, run: StudyRun, stream: Stream) -> StudyFollower:
        """Return what follows it."""
        return StudyFollower(run, stream)

    def sentence(self, follower: StudyFollower) -> str:
        """Return where it stands, or what came out, in one sentence."""
        state, begun = follower.state, len(follower.launches)
        if state.is_terminal:
            launches = fmt.count(follower.num_launches, "launch")
            return f"It ended as {state.state} after {begun} of {launches}."
        if not begun:
            return "The first launch is being started."
        return f"Now {follower.newest} runs."

    def is_verdict(self, follower: StudyFollower) -> bool:
        """Return whether that sentence is the final one."""
        return follower.state.state == "Completed"

    def rows(self, follower: StudyFollower) -> tuple[RowInfo, ...]:
        """Return the table of its set-ups."""
        return follower.rows()

    def findings(self, follower: StudyFollower) -> tuple[Finding, ...]:  # noqa: ARG002  a kind of its own may ask it
        """Return what a reader must know before trusting the numbers."""
        return ()

    def notes(self, follower: StudyFollower) -> tuple[str, ...]:  # noqa: ARG002  as above
        """Return what else is to be said of it."""
        return ()

    def sections(self, follower: StudyFollower) -> tuple[Section, ...]:  # noqa: ARG002  as above
        """Return what it shows below its answer, and no other kind does."""
        return ()

    def code(self, request: StudyRequest) -> str:  # noqa: ARG002  as above
        """Return the lines of a notebook that do the same; empty: they cannot be written."""
        return ""
