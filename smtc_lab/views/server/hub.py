"""Everything that is watched on one server, shared by all browser tabs."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.follow.stream import FRAMES_PER_S
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.trash import delete_run, delete_study, empty_trash, put_back
from smtc_lab.views.environments.choices import asked_choices, named_choices
from smtc_lab.views.environments.told import environments_json
from smtc_lab.views.environments.xla_maker import XLA_MAKER
from smtc_lab.views.forecast.calibrator import CALIBRATOR
from smtc_lab.views.kinds import family_of, kind_at
from smtc_lab.views.live.stopping import soon
from smtc_lab.views.run_table.tables import RunTables
from smtc_lab.views.server.list_follower import ListFollower
from smtc_lab.views.server.list_topic import ListTopic
from smtc_lab.views.server.names import folder_of
from smtc_lab.views.server.topic import WatchTopic
from smtc_lab.views.widgets.traits.catalog import catalog_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.study.trash import Deletion
    from smtc_lab.views.environments.choices import EnvironmentChoices
    from smtc_lab.views.kinds import Family
    from smtc_lab.views.live.list_row import Row
    from smtc_lab.views.server.topic import Listener, Topic

_MONITOR = re.compile(r"([a-z][a-z-]*)-monitor")

_LOOKS_PER_S = 300
"""Looks of all watches together in a second: of 50 runs, six at each."""


class Hub:
    """Runs and comparisons of one folder. May be used by several threads; some calls wait.

    Args:
        root_dir: Folder of the server, from which relative paths of a posted job count.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root = runs_root()
        """Folder of the runs."""
        self.tables = RunTables(self.root)
        """Its table of runs."""
        self._root_dir = root_dir
        self._follower = ListFollower(self.root)
        self._topics: dict[tuple[str, str], Topic] = {}
        self._lock = threading.Lock()
        self._environments: EnvironmentChoices | None = None
        threading.Thread(target=self.empty_trash, name="smtc-trash", daemon=True).start()

    def rows(self, last: int | None) -> list[Row]:
        """Return the rows of the newest runs and comparisons, oldest first; None: of all."""
        rows = self._follower.look()
        return rows if last is None else rows[-last:]

    def catalog(self) -> list[dict[str, Any]]:
        """Return what a browser needs to know of each instance type."""
        return catalog_json(Catalog.load())

    def environments(self) -> dict[str, Any]:
        """Return what a browser needs to know of each Python environment; takes a moment.

        While one is being made, nothing but how far it is: a browser asks each second.
        """
        making = XLA_MAKER.making
        if self._environments is None or making.state != "making":
            self._environments = asked_choices()
        return environments_json(self._environments, making)

    @property
    def root_dir(self) -> Path:
        """Folder of the server, from which relative paths count."""
        return self._root_dir

    def known_environments(self) -> EnvironmentChoices:
        """Return the Python environments as they were told last, or their names."""
        return self._environments or named_choices()

    def make_xla(self) -> dict[str, Any]:
        """Begin to make the environment of XLA, and return what ``environments`` does."""
        XLA_MAKER.start()
        return self.environments()

    def forecast(self, value: list[Any], rounds: int) -> dict[str, Any]:
        """Return what the set-ups of a form would be, as JSON values.

        Args:
            value: The set-ups as JSON, legal or not.
            rounds: Launches of each, at least 1.
        """
        # what predicts is heavy, and a list of runs needs nothing of it
        from smtc_lab.views.forecast.forecasting import forecast_of  # noqa: PLC0415

        told = forecast_of(
            value,
            rounds,
            catalog=Catalog.load(),
            calibrating=CALIBRATOR.calibrating,
            folder=self._root_dir,
        )
        return told.as_dict()

    def catalog_plans(self, value: list[Any]) -> dict[str, Any]:
        """Return all clusters that the set-ups of a form could have, as JSON values.

        Args:
            value: The set-ups as JSON, legal or not.
        """
        from smtc_lab.views.forecast.planning import catalog_plans  # noqa: PLC0415  see forecast

        return catalog_plans(value, catalog=Catalog.load(), folder=self._root_dir).as_dict()

    def compiler_ladders(self, value: list[Any]) -> dict[str, Any]:
        """Return what was measured of compiler settings for a form, as JSON values.

        Args:
            value: The set-ups as JSON, legal or not.
        """
        from smtc_lab.views.forecast.measured_settings import (  # noqa: PLC0415  see forecast
            compiler_ladders,
        )

        return compiler_ladders(value, folder=self._root_dir, root=self.root).as_dict()

    def calibrate(self, value: list[Any]) -> None:
        """Begin to calibrate the set-ups of a form that have no calibration.

        Args:
            value: The set-ups as JSON, legal or not.
        """
        from smtc_lab.views.forecast.forecasting import calibrate_missing  # noqa: PLC0415

        calibrate_missing(value, CALIBRATOR, folder=self._root_dir)

    def stop_calibrating(self) -> None:
        """Ask the calibration that goes on to end."""
        CALIBRATOR.stop()

    def scripts(self, folder: str) -> dict[str, Any]:
        """Return the scripts that a form offers, as JSON values.

        Args:
            folder: The folder to look into; empty: the server's own.
        """
        from smtc_lab.views.scripts.offered import offered_scripts  # noqa: PLC0415  seldom needed

        return offered_scripts(folder, base=self._root_dir, root=self.root).as_dict()

    def join(self, view: str, name: str, listener: Listener) -> None:
        """Let a listener watch, beside those that watch the same already.

        Args:
            view: ``runs``, or ``run-monitor`` and so on, by the names of kinds.
            name: What is watched; empty for ``runs``.
            listener: Who watches.

        Raises:
            StoreError: There is no such view or run, or it cannot be read.
        """
        with self._lock:
            topic = self._topics.get((view, name))
            if topic is None:
                topic = self._topics[view, name] = self._open_topic(view, name)
                self._share_time()
            listener.on_topic(topic)
            topic.join(listener)

    def leave(self, topic: Topic, listener: Listener) -> None:
        """Let a listener watch no longer; what nobody watches is watched no more."""
        with self._lock:
            if not topic.leave(listener):
                return
            self._topics = {
                place: each for place, each in self._topics.items() if each is not topic
            }
            self._share_time()
            topic.close()

    def stop(self, family: Family, name: str, *, on_problem: Callable[[str], None]) -> None:
        """Begin to stop a run or a study, whoever started it.

        Args:
            family: What it is.
            name: Its name.
            on_problem: Called later, from a thread, with why it could not be stopped.

        Raises:
            NoSuchNameError: There is none of that name.
            LauncherError: It has ended.
            StoreError: Its folder is damaged.
        """
        path = folder_of(family, name, self.root)
        kind = kind_at(path)
        found = kind.open(path)
        if found.state.is_terminal:
            raise LauncherError(
                f"The {kind.name} {name!r} has ended as {found.status}, so there is nothing to "
                "stop."
            )
        topic = self._topics.get((f"{kind.name}-monitor", name))
        if isinstance(topic, WatchTopic):
            topic.stop()
        else:
            soon(kind.name, "stopped", found.stop, on_problem=on_problem)

    def delete(self, family: Family, name: str) -> Deletion:
        """Delete a run or a study, so that it can be put back for a day.

        Args:
            family: What it is.
            name: Its name.

        Raises:
            NoSuchNameError: There is none of that name.
            LauncherError: It goes on, or is a launch of a study.
            StoreError: Its folder cannot be moved.
        """
        folder_of(family, name, self.root)
        if family.name == "run":
            return delete_run(name, self.root)
        return delete_study(name, self.root)

    def put_back(self, deletion_id: str) -> Deletion:
        """Undo a deletion.

        Raises:
            StoreError: It was undone, is too old, or its name is taken.
        """
        return put_back(deletion_id, self.root)

    def empty_trash(self) -> None:
        """Remove for good what was deleted a day ago."""
        empty_trash(self.root)

    def bundle(self, family: Family, name: str) -> dict[str, Any]:
        """Return what a notebook keeps of a run or a study that has ended.

        Raises:
            NoSuchNameError: There is none of that name.
            LauncherError: It still goes on.
            ViewError: It could not be made.
        """
        path = folder_of(family, name, self.root)
        kind = kind_at(path)
        info = kind.first(path).info
        if not info.ended:
            raise LauncherError(
                f"The {kind.name} {name!r} goes on: nothing is kept of it before its "
                "end. Watch it, or wait."
            )
        from smtc_lab.views.kept import drawn_elsewhere  # noqa: PLC0415  see start

        return drawn_elsewhere(path)

    def start(self, asked: object) -> str:
        """Start a run or a comparison that goes on without the server, and return its name.

        Args:
            asked: What a browser sent.

        Raises:
            SmtcLabError: It cannot be started; says why.
        """
        # the list of runs needs nothing of this, and is what a page asks for first
        from smtc_lab.views.server.starting import start  # noqa: PLC0415

        return start(asked, self._root_dir)

    def _open_topic(self, view: str, name: str) -> Topic:
        if view == "runs":
            return ListTopic(self._follower)
        monitor = _MONITOR.fullmatch(view)
        if monitor is None:
            raise StoreError(f"There is no view {view[:80]!r} to watch. Load the page again.")
        return WatchTopic(folder_of(family_of(monitor[1]), name, self.root))

    def _share_time(self) -> None:
        """Let watches look less often the more of them there are."""
        watches = [topic for topic in self._topics.values() if isinstance(topic, WatchTopic)]
        for watch in watches:
            watch.set_pause(max(1 / FRAMES_PER_S, len(watches) / _LOOKS_PER_S))
