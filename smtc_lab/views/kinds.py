"""The kinds of what goes on: a run, and each kind of study; an entry of a table each.

Lists, live views, figures, saved results and reopened ones ask this table. ``ViewKind`` says
what an entry answers. Of a study most of it is the same whatever it asks: a new kind begins
with ``study.kind.StudyKind``, and says what is its own.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
)

from smtc_lab.errors import LauncherError
from smtc_lab.machine.installed import brought, loaded
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.folder import StudyFolder, read_request, studies_root

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from smtc_lab.follow.stream import Send
    from smtc_lab.launchers.run import Run
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.live.watch import Audience, Watch

Thing: TypeAlias = "Run | StudyRun"
"""What goes on, or has ended, in the hands of a person."""

KINDS = {
    "run": "smtc_lab.views.run.kind:RUN",
    "comparison": "smtc_lab.views.comparison.kind:COMPARISON",
    "scaling": "smtc_lab.views.scaling.kind:SCALING",
    "parity": "smtc_lab.views.scaling.parity_kind:PARITY_CHECK",
    "batch-size": "smtc_lab.views.batch.kind:BATCH_SIZE",
    "tuning": "smtc_lab.views.tuning.kind:TUNING",
}
"""The entry of each kind, as ``module:name``. A study of another kind is shown as any study
is."""

ENTRY_POINTS = "smtc_lab.views"
"""Group of entry points by which an installed package brings entries of its own."""


S = TypeVar("S")


class ViewKind(ABC, Generic[S]):
    """How views open, follow, describe and draw one kind of what goes on.

    ``S`` is what there is of it at one moment: its ``info``, and ``as_dict``, what is kept.
    """

    mime: ClassVar[str]
    """Our own type of what is kept."""

    monitor: ClassVar[str]
    """The widget that shows it live, as ``module:class``."""

    opening: ClassVar[str]
    """What opens it again in a notebook, for its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        """A word for people."""

    @abstractmethod
    def open(self, path: Path) -> Thing:
        """Return what a folder holds, in the hands of a person.

        Raises:
            SmtcLabError: The folder is damaged.
        """

    def interrupt(self, thing: Thing) -> None:  # noqa: ARG002  a run can be
        """Take its instances away, as a spot market does.

        Raises:
            SmtcLabError: It has none, or they cannot be taken away from here.
        """
        raise LauncherError(
            f"A {self.name} has no instances of its own. Interrupt the run that goes on."
        )

    def resume(self, thing: Thing, more: Mapping[str, Any]) -> None:  # noqa: ARG002  a search can be
        """Go on with what has ended.

        Args:
            thing: What goes on.
            more: What a browser gave: ``max_jobs`` or ``budget_usd``, of a search.

        Raises:
            SmtcLabError: It cannot go on.
        """
        raise LauncherError(f"A {self.name} does not go on. Start it once more.")

    @abstractmethod
    def watch(self, path: Path, send: Send | None, audience: Audience) -> Watch:
        """Return what watches it; nothing but its folder is asked.

        Raises:
            StoreError: The folder is damaged.
        """

    @abstractmethod
    def see(self, path: Path) -> S:
        """Return it as it is now.

        Raises:
            StoreError: The folder is damaged.
        """

    def first(self, path: Path) -> S:
        """Return what is known of it at once."""
        return self.see(path)

    @abstractmethod
    def text(self, seen: S) -> str:
        """Return it for a terminal and an e-mail."""

    @abstractmethod
    def html(self, seen: S, picture: Picture | None = None) -> str:
        """Return it as HTML that needs no script, and that sanitizers leave whole."""

    def figure(self, seen: S) -> Figure | None:  # noqa: ARG002  not every kind has one
        """Return its figure; None: there is nothing to draw."""
        return None


@dataclass(frozen=True, kw_only=True)
class Family:
    """What lies in one folder: runs, or studies of whatever kind."""

    name: Literal["run", "comparison"]
    """Its first kind."""

    marker: str
    """The file that makes a folder one of it."""

    listed: str
    """What follows one for a list, as ``module:class``."""

    def root(self, runs: Path | None = None) -> Path:
        """Return the folder of all of it.

        Args:
            runs: Folder of runs; None: the default one.
        """
        if self.name == "comparison":
            return studies_root(runs)
        return runs_root(runs)


FAMILIES = {
    family.name: family
    for family in (
        Family(name="run", marker="job.json", listed="smtc_lab.views.run.listed:ListedRun"),
        Family(
            name="comparison",
            marker="request.json",
            listed="smtc_lab.views.study.listed:ListedStudy",
        ),
    )
}
"""The families, by their first kinds."""


def family_of(kind: str) -> Family:
    """Return where things of a kind lie."""
    return FAMILIES["run" if kind == "run" else "comparison"]


def kind_named(name: str) -> ViewKind[Any]:
    """Return the entry of a kind."""
    if name in KINDS:
        return cast("ViewKind[Any]", loaded(KINDS[name]))
    found = brought(ENTRY_POINTS, name)
    if found is None:
        found = loaded("smtc_lab.views.study.kind:StudyKind")(name)
    return cast("ViewKind[Any]", found)


def kind_at(path: Path) -> ViewKind[Any]:
    """Return the entry of what a folder holds.

    Raises:
        StoreError: It holds no run, and no study that can be read.
    """
    is_run = os.path.lexists(path / FAMILIES["run"].marker)
    return kind_named("run" if is_run else read_request(StudyFolder(path)).kind)


def kind_of(thing: Thing) -> ViewKind[Any]:
    """Return the entry of a run or of a study."""
    request = getattr(thing, "request", None)
    return kind_named("run" if request is None else request.kind)


def open_study(name: str, *, root: Path | None = None) -> StudyRun:
    """Return the study of a name, or of a path to its folder, whatever its kind.

    Args:
        name: Its name.
        root: Folder of runs, beside which studies lie; None: the default one.

    Raises:
        StoreError: There is no such study.
    """
    path = Path(name) if "/" in name else studies_root(root) / name
    return cast("StudyRun", kind_at(path).open(path))


def is_study(name: str, *, root: Path | None = None) -> bool:
    """Return whether a name is that of a study."""
    marker = FAMILIES["comparison"].marker
    return "/" not in name and os.path.lexists(studies_root(root) / name / marker)
