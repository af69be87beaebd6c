"""What views know of comparisons: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import StudyFolder
from smtc_lab.views.code.cells import compare_code
from smtc_lab.views.comparison.follower import ComparisonFollower
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.findings import beside_verdict

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.study.snapshot import StudySnapshot


class ComparisonKind(StudyKind):
    """A comparison: ratios as they narrow, and a verdict."""

    opening = "lab.ComparisonRun.open({name!r})"

    def open(self, path: Path) -> ComparisonRun:
        """Return the comparison in a folder."""
        return ComparisonRun(StudyFolder(path))

    def follower(self, run: StudyRun, stream: Stream) -> ComparisonFollower:
        """Return what follows it."""
        return ComparisonFollower(run, stream)

    def sentence(self, follower: StudyFollower) -> str:
        """Return the verdict of what is complete, or why there is none."""
        state, verdict = follower.state, self.verdict(follower)
        if verdict is not None and state.state == "Completed":
            return verdict
        asked = fmt.count(follower.run.request.rounds, "round")
        if verdict is not None:
            so_far = "It ended early" if state.is_terminal else "So far"
            return f"{so_far}, after {follower.rounds} of {asked}: {verdict}"
        if state.is_terminal:
            return "There is no verdict: no round was completed."
        if not follower.launches:
            return "Too early to tell: the first launch is being started."
        return f"Too early to tell: {follower.newest} runs, and no round is complete."

    def verdict(self, follower: StudyFollower) -> str | None:
        """Return what the rounds that are complete say; None: there is none."""
        return None if follower.comparison is None else follower.comparison.verdict

    def is_verdict(self, follower: StudyFollower) -> bool:
        """Return whether that sentence is the final one."""
        return super().is_verdict(follower) and follower.comparison is not None

    def findings(self, follower: StudyFollower) -> tuple[Finding, ...]:
        """Return what the result says of itself."""
        comparison = follower.comparison
        return beside_verdict(comparison) if comparison and self.is_verdict(follower) else ()

    def code(self, request: StudyRequest) -> str:
        """Return the lines of a notebook that compare the same."""
        return compare_code(request.jobs, request.rounds)

    def figure(self, seen: StudySnapshot) -> Figure | None:
        """Return what is faster, and what is cheaper; None: no round is complete."""
        # matplotlib takes most of a second to import
        from smtc_lab.views.figures.cost import overview_figure  # noqa: PLC0415

        if seen.comparison is None:
            return None
        return overview_figure(seen.comparison, framed=False)


COMPARISON = ComparisonKind("comparison")
