"""What views know of searches of hyperparameters: the entry of the table of kinds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.study.folder import StudyFolder
from smtc_lab.study.tuning.tuning_run import TUNING as NAME
from smtc_lab.study.tuning.tuning_run import TuningRun
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.tuning.follower import TuningFollower
from smtc_lab.views.tuning.section import tuning_section
from smtc_lab.views.tuning.text import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from smtc_lab.follow.stream import Stream
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.kinds import Thing
    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.study.info import Section
    from smtc_lab.views.study.snapshot import StudySnapshot
    from smtc_lab.views.text.set_ups import RowInfo


class TuningKind(StudyKind):
    """A search of hyperparameters: what was tried, what is best, what it cost."""

    opening = "lab.TuningRun.open({name!r})"

    def open(self, path: Path) -> TuningRun:
        """Return the search in a folder."""
        return TuningRun(StudyFolder(path))

    def resume(self, thing: Thing, more: Mapping[str, Any]) -> None:
        """Go on with a search that has ended, with more trials or dollars where they are given.

        Raises:
            SpecError: What is given is no number of trials, or no money.
            SmtcLabError: It goes on already, or has nothing left to do.
        """
        given = {name: more[name] for name in ("max_jobs", "budget_usd") if more.get(name)}
        for name, value in given.items():
            is_number = isinstance(value, int | float) and math.isfinite(value) and value > 0
            if not is_number or (name == "max_jobs" and value != int(value)):
                raise SpecError(f"{name}={str(value)[:40]} is no number above 0. Give one.")
        if isinstance(thing, TuningRun):
            thing.resume(detach=True, **given)

    def follower(self, run: StudyRun, stream: Stream) -> TuningFollower:
        """Return what follows it."""
        return TuningFollower(run, stream)

    def sentence(self, follower: StudyFollower) -> str:
        """Return the best trial so far."""
        if not isinstance(follower, TuningFollower) or not follower.found.trials:
            return super().sentence(follower)
        return sentence(follower.found)

    def rows(self, follower: StudyFollower) -> tuple[RowInfo, ...]:  # noqa: ARG002  as above
        """Return nothing: trials are no set-ups."""
        return ()

    def sections(self, follower: StudyFollower) -> tuple[Section, ...]:
        """Return its pictures and its trials."""
        is_own = isinstance(follower, TuningFollower)
        return (tuning_section(follower),) if is_own else ()  # type: ignore[arg-type]  # it is

    def figure(self, seen: StudySnapshot) -> Figure | None:
        """Return the best objective so far; None: no trial has one."""
        # matplotlib takes most of a second to import
        from smtc_lab.views.tuning.figure import tuning_figure  # noqa: PLC0415

        told = next((one.values for one in seen.info.sections), None)
        return tuning_figure(told) if told is not None and told.so_far else None


TUNING = TuningKind(NAME)
