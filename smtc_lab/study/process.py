"""The process that carries out one study, so that a notebook's kernel stays free.

Started as ``python -m smtc_lab.study.process <folder>``. Its standard input is a
lifeline to the process that asked for it; a detached one has none. SIGTERM stops it. It holds
the lifelines of its runs, so however it ends, they end too.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.processes import signals_as_bytes
from smtc_lab.store.state import replace_file
from smtc_lab.study.folder import (
    COMPARISON,
    STOPPED_BY_USER,
    LaunchedRun,
    StudyFolder,
    StudyState,
    read_request,
    write_study_state,
)
from smtc_lab.study.kinds import carry_out_of
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.launchers.run import Run
    from smtc_lab.store.state import State

PARENT_ENDED = (
    "The process that launched the {0} ended, so the {0} ended too. Start it with detach=True "
    "to let it go on."
)


class StudyProcess:
    """Carries out one study and writes down where it stands."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._watch = LaunchWatch(
            launches=0, progress=None, started=self._note, found=self._found
        )
        self._kind = COMPARISON
        self._why_stopped = STOPPED_BY_USER
        self._state = StudyState()
        self._lock = threading.Lock()

    def stop(self, why: str) -> None:
        """Stop the launch that runs, and begin no other one.

        May be called from any thread, twice, and after the end.
        """
        with self._lock:
            if self._watch.stop.is_set() or self._state.is_terminal:
                return
            self._why_stopped = why.format(self._kind)
            self._write(state="Stopping", reason=self._why_stopped)
            self._watch.stop.set()

    def run(self) -> None:
        """Carry it out to its end, whatever that is."""
        with self._lock:
            if not self._watch.stop.is_set():
                self._write(state="InProgress", started_s=time.time())
        ended: State = "Failed"
        reason = ""
        try:
            self._carry_out()
            ended = "Completed"
        except SmtcLabError as error:
            reason = str(error)
            if self._watch.stop.is_set():
                ended, reason = "Stopped", self._why_stopped
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}. All of it: {self._folder.log_file}"
            raise
        finally:
            with self._lock:
                self._write(state=ended, reason=reason, ended_s=time.time())

    def _carry_out(self) -> None:
        request = read_request(self._folder)
        self._kind = request.kind
        result = carry_out_of(request.kind)(request, self._watch)
        replace_file(self._folder.result_file(request.kind), result)

    def _note(self, run: Run) -> None:
        """Write down that a launch has started."""
        launched = LaunchedRun(
            job_name=run.job_name,
            label=run.job.cluster.label,
            round=self._watch.rounds.get(run.job_name),
        )
        with self._lock:
            self._write(launches=self._watch.launches, runs=(*self._state.runs, launched))

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


def main(path: str, *, detached: bool) -> int:
    """Carry out the study in a folder."""
    process = StudyProcess(StudyFolder(Path(path)))
    heard_from = selectors.DefaultSelector()
    heard_from.register(signals_as_bytes(), selectors.EVENT_READ, STOPPED_BY_USER)
    if not detached:
        heard_from.register(sys.stdin, selectors.EVENT_READ, PARENT_ENDED)
    threading.Thread(target=_listen, args=(process, heard_from), daemon=True).start()
    process.run()
    return 0


def _listen(process: StudyProcess, heard_from: selectors.BaseSelector) -> None:
    """Stop the process when a signal asks for it, or the lifeline ends."""
    while True:
        for key, _ in heard_from.select():
            said = os.read(key.fd, 4096)
            if key.data == PARENT_ENDED and not said:
                heard_from.unregister(key.fileobj)
                process.stop(PARENT_ENDED)
            elif {signal.SIGTERM, signal.SIGINT} & set(said):
                process.stop(STOPPED_BY_USER)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="--detached" in sys.argv[2:]))
