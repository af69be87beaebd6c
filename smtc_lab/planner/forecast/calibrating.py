"""Calibrates workloads in a process of its own, for somebody who looks on and may stop it.

Its standard input is a line of JSON, ``{"jobs": […], "seconds": …, "root": …}``, and then its
lifeline: when that ends, by a wish or because whoever started it is gone, it ends what runs and
itself. On its standard output it says in lines of JSON how far it is:

    {"launch": 3, "launches": 15, "sentence": "…"}    what it does now
    {"end": "done" | "stopped" | "failed", "sentence": "…"}    the last line
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.cores import available_cores
from smtc_lab.planner.calibration.calibrate import calibrate
from smtc_lab.planner.calibration.calibration import FOLDER
from smtc_lab.planner.forecast.effort import launches_of
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.study.watched_run import Progress

_MOST_BYTES = 16 * 2**20


def main() -> int:
    """Calibrate what standard input names, and return the exit status: 0, all of it was."""
    # whoever started this may have been told to ignore them, which is inherited
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        asked = json.loads(_first_line())
        jobs = [TrainingJob.model_validate(job) for job in asked["jobs"]]
        threading.Thread(target=_end_with_the_lifeline, daemon=True).start()
        root = Path(asked["root"])
        with _alone(root):
            _calibrate_all(jobs, root, float(asked["seconds"]))
    except KeyboardInterrupt:
        _say(end="stopped", sentence="The calibration was stopped; nothing of it is kept.")
        return 1
    except SmtcLabError as error:
        _say(end="failed", sentence=str(error))
        return 1
    _say(end="done", sentence="")
    return 0


def _calibrate_all(jobs: Sequence[TrainingJob], root: Path, seconds: float) -> None:
    counts = [launches_of(job, cores=available_cores()) for job in jobs]
    for place, job in enumerate(jobs):
        before, launches = sum(counts[:place]), sum(counts)

        def tell(progress: Progress, before: int = before, launches: int = launches) -> None:
            launch = before + progress.launch
            _say(
                launch=launch,
                launches=max(launches, launch),
                sentence=f"Launch {launch} of {max(launches, launch)}: {progress.cluster}, "
                f"{progress.steps:,} steps.",
            )

        _say(
            launch=before,
            launches=launches,
            sentence="Measuring how fast a core of this machine is.",
        )
        calibrate(job, seconds_per_point=seconds, root=root, progress=tell)


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Wait until no other process calibrates here: two at once would measure each other."""
    folder = root / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise SmtcLabError(
            f"Nothing can be written to {str(folder)!r} ({error.strerror}). Give yourself the "
            "right to, or set SMTC_LAB_HOME to another folder."
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(launch=0, launches=0, sentence="Waiting for the end of another calibration.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _first_line() -> bytes:
    # without a buffer: a thread that waits in one would hold its lock when this process ends
    text = b""
    while not text.endswith(b"\n") and len(text) < _MOST_BYTES:
        more = os.read(0, 65536)
        if not more:
            raise KeyboardInterrupt
        text += more
    return text


def _end_with_the_lifeline() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGINT)


def _say(**told: Any) -> None:  # noqa: ANN401  JSON values
    with contextlib.suppress(BrokenPipeError):  # then the lifeline has ended, too
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
