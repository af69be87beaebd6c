"""What views know of runs: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.views.kinds import ViewKind
from smtc_lab.views.run.snapshot import RunSnapshot, first_look, take_snapshot
from smtc_lab.views.run.watch import RunWatch
from smtc_lab.views.run.words import bar_rows, evidence_words, group_rows, run_rows, run_text
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from smtc_lab.follow.stream import Send
    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.kinds import Thing
    from smtc_lab.views.live.watch import Audience


class RunKind(ViewKind[RunSnapshot]):
    """A run."""

    mime = "application/vnd.smtc-lab.run+json"
    monitor = "smtc_lab.views.widgets.run_monitor:RunMonitor"
    opening = "lab.Run.open({name!r})"

    def open(self, path: Path) -> Run:
        """Return the run in a folder, with what launched it."""
        return Run.open(str(path))

    def interrupt(self, thing: Thing) -> None:
        """Take the instances of a run away; it goes on in another attempt."""
        cast("Run", thing).interrupt()  # no other thing is of this kind

    def watch(self, path: Path, send: Send | None, audience: Audience) -> RunWatch:
        """Return what watches it."""
        return RunWatch(RunFolder(path), send, audience)

    def see(self, path: Path) -> RunSnapshot:
        """Return it as it is now."""
        return take_snapshot(RunFolder.open(path))

    def first(self, path: Path) -> RunSnapshot:
        """Return what is known of it without its records."""
        return first_look(RunFolder.open(path))

    def text(self, seen: RunSnapshot) -> str:
        """Return it for a terminal or a log."""
        return run_text(seen)

    def html(self, seen: RunSnapshot, picture: Picture | None = None) -> str:
        """Return it as HTML that needs no script, and that sanitizers leave whole."""
        rows = run_rows(seen)
        return render(
            "run_end.html.j2",
            info=seen.info,
            state=fmt.state_word(seen.info.word),
            rows=[*rows, *group_rows(seen.info)],
            bars=bar_rows(seen),
            findings=seen.info.findings,
            picture=picture,
            alt=f"Step time and CPU utilization of the run: {_mean(rows)}.",
        )

    def figure(self, seen: RunSnapshot) -> Figure:
        """Return step times and utilization."""
        # matplotlib takes most of a second to import
        from smtc_lab.views.run.figures import run_figure  # noqa: PLC0415

        mean = f"mean step time {_mean(run_rows(seen))}"
        return run_figure(seen, subtitle=[evidence_words(seen.info), mean])


RUN = RunKind("run")


def _mean(rows: list[tuple[str, str]]) -> str:
    return dict(rows).get("mean step time", fmt.UNKNOWN)
