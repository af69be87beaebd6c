"""Writes down where a study stands, from its begin to its end, in whichever process."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.store.state import replace_file
from smtc_lab.study.folder import (
    COMPARISON,
    STOPPED_BY_USER,
    LaunchedRun,
    StudyState,
    write_study_state,
)
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from smtc_lab.launchers.run import Run
    from smtc_lab.store.state import State
    from smtc_lab.study.folder import StudyFolder
    from smtc_lab.study.watched_run import Progress


class StudyKeeper:
    """Keeps the state of one study while this process carries it out.

    Args:
        folder: The study.
        kind: Its kind, as far as it is known.
        progress: Called about twice a second while steps are made; None: nobody listens.
    """

    def __init__(
        self,
        folder: StudyFolder,
        *,
        kind: str = COMPARISON,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.kind = kind
        """What it is called."""
        self._folder = folder
        self._watch = LaunchWatch(
            launches=0,
            progress=progress,
            started=self._note,
            found=self._found,
            is_asked_to_stop=self._is_asked_to_stop,
            study=folder.name,
        )
        self._why_stopped = STOPPED_BY_USER
        self._state = StudyState()
        self._lock = threading.Lock()

    @contextmanager
    def going_on(self) -> Iterator[LaunchWatch]:
        """Write down its begin, and its end, whatever that is; gives what launches are told to.

        Raises:
            OSError: The folder cannot be written.
        """
        with self._lock:
            if not self._watch.stop.is_set():
                self._write(state="InProgress", started_s=time.time())
        ended: State = "Failed"
        reason = ""
        try:
            yield self._watch
            ended = "Completed"
        except SmtcLabError as error:
            reason = str(error)
            if self._watch.stop.is_set():
                ended, reason = "Stopped", self._why_stopped
            raise
        except KeyboardInterrupt:
            ended, reason = "Stopped", STOPPED_BY_USER.format(self.kind)
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}."
            if self._folder.log_file.is_file():
                reason += f" All of it: {self._folder.log_file}"
            raise
        finally:
            with self._lock:
                self._write(state=ended, reason=reason, ended_s=time.time())

    def conclude(self, result: str) -> None:
        """Write down what came out.

        Args:
            result: JSON text.
        """
        replace_file(self._folder.result_file(self.kind), result)

    def stop(self, why: str) -> None:
        """Stop the launch that runs, and begin no other one.

        May be called from any thread, twice, and after the end.

        Args:
            why: The reason, with ``{0}`` for the name of its kind.
        """
        with self._lock:
            if self._watch.stop.is_set() or self._state.is_terminal:
                return
            self._why_stopped = why.format(self.kind)
            self._write(state="Stopping", reason=self._why_stopped)
            self._watch.stop.set()

    def _is_asked_to_stop(self) -> bool:
        if self._folder.stop_file.exists():
            self.stop(STOPPED_BY_USER)
        return self._watch.stop.is_set()

    def _note(self, run: Run, name: str) -> None:
        """Write down that a launch has started."""
        number = self._watch.rounds.get(run.job_name)
        launched = LaunchedRun(
            job_name=run.job_name,
            # one beside the rounds, for parity say, has the cluster of another
            label=name if number is None else run.job.cluster.label,
            round=number,
        )
        with self._lock:
            self._write(
                launches=self._watch.launches,
                note=self._watch.note,
                runs=(*self._state.runs, launched),
            )

    def _found(self, job_name: str, found: Mapping[str, Any]) -> None:
        """Write down what a launch told."""
        with self._lock:
            runs = (
                replace(run, found=found) if run.job_name == job_name else run
                for run in self._state.runs
            )
            self._write(runs=tuple(runs))

    def _write(self, **changes: Any) -> None:  # noqa: ANN401  fields of StudyState
        self._state = replace(self._state, **changes)
        write_study_state(self._folder, self._state)
