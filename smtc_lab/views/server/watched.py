"""Opens what is watched, and what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import current_state
from smtc_lab.study.comparison_run import ComparisonRun
from smtc_lab.study.folder import StudyFolder, read_study_state
from smtc_lab.views import bundle, comparison_bundle
from smtc_lab.views.live.comparison_watch import ComparisonWatch
from smtc_lab.views.live.run_watch import RunWatch
from smtc_lab.views.server.topic import WatchTopic

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.state import RunState
    from smtc_lab.study.folder import StudyState
    from smtc_lab.views.server.names import Kind


def open_watched(kind: Kind, path: Path) -> Run | ComparisonRun:
    """Return the run or the comparison in a folder.

    Raises:
        SmtcLabError: Its folder is damaged.
    """
    return Run.open(str(path)) if kind == "run" else ComparisonRun(StudyFolder(path))


def watch_topic(kind: Kind, path: Path) -> WatchTopic:
    """Return the topic of the run or the comparison in a folder; its watch has begun.

    Raises:
        StoreError: Its folder is damaged.
    """
    if kind == "run":
        folder = RunFolder(path)
        return WatchTopic(
            kind,
            lambda audience: RunWatch(folder, None, audience),
            # what launched a run is asked for when it is to be stopped: a folder can be
            # watched without it
            lambda: open_watched(kind, path).stop(),
        )
    run = ComparisonRun(StudyFolder(path))
    return WatchTopic(kind, lambda audience: ComparisonWatch(run, None, audience), run.stop)


def kept_bundle(kind: Kind, path: Path) -> dict[str, Any]:
    """Return what a notebook keeps of what has ended.

    Raises:
        LauncherError: It still goes on.
        ViewError: It could not be made.
    """
    if kind == "run":
        folder = RunFolder(path)
        _refuse_live(kind, path.name, current_state(folder))
        return bundle.drawn_elsewhere(folder)
    comparison = StudyFolder(path)
    _refuse_live(kind, path.name, read_study_state(comparison))
    return comparison_bundle.drawn_elsewhere(comparison)


def _refuse_live(kind: Kind, name: str, state: RunState | StudyState) -> None:
    if not state.is_terminal:
        raise LauncherError(
            f"The {kind} {name!r} is {state.state}: nothing is kept of it before its end. "
            "Watch it, or wait."
        )
