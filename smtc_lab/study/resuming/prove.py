"""Proves that a script goes on after it is killed: by killing it."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import Run, launcher_named
from smtc_lab.launchers.special_launch import in_own_folder, with_fingerprints
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.machine.stored_text import parsed_json
from smtc_lab.metrics.records.attempts import GOES_ON, NOT_KEPT, AttemptRecord
from smtc_lab.metrics.records.fingerprints import NAMES_FILE, FingerprintRecord
from smtc_lab.metrics.records.records import EventRecord, StepRecord
from smtc_lab.neutral_text import neutral
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.spot import Market
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.study.comparison.completed import NO_STEP_AFTER_OTHERS
from smtc_lab.study.resuming.compared_steps import (
    TrainerFingerprints,
    first_difference,
    random_drift,
    step_found,
)
from smtc_lab.study.resuming.own_files import unlike_files
from smtc_lab.study.resuming.proof import ResumeProof

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import StrPath

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.store.run_folder import RunFolder

__all__ = ["prove_resume"]

MOST_INTERRUPTIONS = 100
"""Kills of one proof, at most."""

_LOOK_S = 0.01
_LONGEST_REASON = 300


def prove_resume(
    script: StrPath | TrainingJob,
    *,
    interruptions: int = 3,
    seed: int = 0,
    root: StrPath | None = None,
    progress: Callable[[str], None] | None = None,
    **job: Any,  # noqa: ANN401  fields of a TrainingJob
) -> ResumeProof:
    """Train a script unbroken and killed at random steps, and compare all bits of each step.

    ::

        print(lab.prove_resume("train.py", hyperparameters={"epochs": 2}).verdict)

    Two runs of this machine, one after the other. Of each step of each trainer the weights,
    the optimizer's state, learning rates, samples and random numbers are hashed. The first
    thing that differs is named, with the line that would mend it.

    Args:
        script: Path of the script, or a job that is to run on this machine.
        interruptions: How often the second run is killed (SIGKILL, without notice), 1 to 100.
        seed: Seed of the steps in which it is.
        root: Folder of runs; None: the default one.
        progress: Called with a sentence when something begins.
        **job: Fields of the ``TrainingJob`` of a script, such as ``max_steps`` for its first
            steps alone, ``arguments`` or ``distribution``.

    Raises:
        SpecError: The job cannot run here, or the numbers are out of range.
        RunFailedError: A run failed; says why.
    """
    if not 1 <= interruptions <= MOST_INTERRUPTIONS:
        raise SpecError(
            f"interruptions={interruptions} is outside 1 to {MOST_INTERRUPTIONS}. Change it."
        )
    say = progress or (lambda _: None)
    made = script if isinstance(script, TrainingJob) else _job(script, job)
    launcher = launcher_named(THIS_MACHINE, root=root)
    stem = made.job_name or Path(made.entry_point).stem.replace("_", "-")[:30].strip("-")
    stem = f"{stem or 'script'}-{time.strftime('%m%d-%H%M%S')}-{os.getpid()}"
    jobs = [made.model_copy(update={"job_name": f"{stem}-{kind}"}) for kind in _KINDS]
    jobs[1] = jobs[1].model_copy(update=_TAKEN_AWAY)
    say("The unbroken run.")
    unbroken = _started(launcher, jobs[0]).wait()
    files = _rank_files(unbroken.folder)
    steps = _columns(unbroken, files).count()
    if steps < 2:
        raise SpecError(
            f"The script made {steps} steps that could be told, so nothing can be interrupted. "
            "Let it take at least 2 steps of an optimizer."
        )
    drawn = random.Random(seed)  # noqa: S311  no secret
    moments = sorted(drawn.sample(range(1, steps), min(interruptions, steps - 1)))
    say(f"The run that is killed, in its steps {', '.join(map(str, moments))} of {steps}.")
    resumed = _started(launcher, jobs[1])
    at = _kill_at(resumed, moments, files)
    resumed.wait()
    if made.working_dir == "here" and not at and not _columns(resumed, files).count():
        raise RunFailedError(f"The run that is killed {NO_STEP_AFTER_OTHERS}")
    return _compared(unbroken, resumed, files, steps=steps, interrupted_at=at)


_KINDS = ("unbroken", "killed")
_TAKEN_AWAY = {"use_spot_instances": True, "market": Market(notice_s=0.0)}


def _job(script: StrPath, fields: dict[str, Any]) -> TrainingJob:
    cluster = Cluster(
        instance_groups=(InstanceGroup(instance_group_name="trainers", instance_type=LOCAL),)
    )
    return TrainingJob(entry_point=os.fspath(script), **{"cluster": cluster, **fields})


def _started(launcher: Launcher, job: TrainingJob) -> Run:
    return Run(launcher, launcher.start(in_own_folder(with_fingerprints(launcher.plan(job)))))


def _rank_files(folder: RunFolder) -> list[str]:
    """Return the names of the record files of all trainers, by rank."""
    names = [path.name for path in folder.record_files(RANK_RECORDS)]
    return sorted(names, key=lambda name: int(Path(name).stem.rpartition("-rank")[2]))


def _columns(run: Run, files: Sequence[str]) -> StepColumns:
    return StepColumns([run.folder.records / name for name in files])


def _kill_at(run: Run, moments: Sequence[int], files: Sequence[str]) -> tuple[int, ...]:
    """Take the instances of a run away when it has made so many steps, again and again."""
    columns = _columns(run, files)
    killed = []
    try:
        for moment in moments:
            while (count := columns.count()) < moment and not _has_ended(run):
                time.sleep(_LOOK_S)  # steps are rows of a file, of which nobody tells
            if _has_ended(run):
                break
            attempts = len(run.state.attempts)
            try:
                run.interrupt()
            except LauncherError:
                if _has_ended(run):  # just now
                    break
                raise
            while len(run.state.attempts) == attempts and not _has_ended(run):
                time.sleep(_LOOK_S)  # as above
            if len(run.state.attempts) > attempts:  # else it had ended before
                killed.append(count)
    except BaseException:
        run.stop()
        raise
    return tuple(killed)


def _has_ended(run: Run) -> bool:
    return run.state.is_terminal


def _compared(
    unbroken: Run,
    resumed: Run,
    files: Sequence[str],
    *,
    steps: int,
    interrupted_at: tuple[int, ...],
) -> ResumeProof:
    differences, unknown, drifts = [], 0, []
    for rank, name in enumerate(files):
        one, other = (_taken(run.folder, name) for run in (unbroken, resumed))
        unknown = max(unknown, step_found(one, other) or 0)
        found = first_difference(one, other, rank=rank)
        if found is not None:
            differences.append(found)
        drifts.append(random_drift(one, other))
    hosts = sorted({_host(name) for name in files})
    unlike = unlike_files(unbroken.folder, resumed.folder, hosts)
    begun = made_steps(resumed.folder.records / files[0])
    *earlier, last = [one.first_step for one in begun] or [0]
    return ResumeProof(
        equal=not differences,
        steps=steps,
        ranks=len(files),
        interrupted_at=interrupted_at[: max((one.attempt for one in begun), default=1) - 1],
        went_on_from=(*earlier, last or unknown),
        first_difference=min(differences, key=lambda one: one.step, default=None),
        other_random_from=min((one for one in drifts if one is not None), default=None),
        unlike_files=() if differences else unlike,
        is_automatic=resumed.job.resume is not None,
        not_kept=_not_kept(resumed.folder.records / files[0]),
        runs=(unbroken.job_name, resumed.job_name),
    )


def made_steps(records: Path) -> list[AttemptRecord]:
    """Return the attempts after which a trainer made steps, in order.

    One that goes on behind the last step makes none: what came before it was no interruption.

    Args:
        records: Of the trainer.
    """
    begun, _ = read_records(records, AttemptRecord)
    steps, _ = read_records(records, StepRecord)
    last_s = max((one.end_time_s for one in steps), default=0.0)
    return [one for one in begun if one.time_s <= last_s]


def _not_kept(records: Path) -> str:
    """Return why a trainer was not resumed automatically; empty: nobody said so."""
    events, _ = read_records(records, EventRecord)
    told = (one.message for one in events if one.message.startswith(NOT_KEPT))
    why = next(told, "").removeprefix(NOT_KEPT).partition(GOES_ON)[0].strip()
    return neutral(why, longest=_LONGEST_REASON) if why else ""


def _host(file: str) -> str:
    return file.rpartition("-rank")[0]


def _taken(folder: RunFolder, name: str) -> TrainerFingerprints:
    records, _ = read_records(folder.records / name, FingerprintRecord)
    try:
        names_file = folder.opt_ml(_host(name)) / NAMES_FILE
        text = read_beneath(folder.path, names_file, most_bytes=MIB)
        names = [str(one) for one in parsed_json(text)]
    except (OSError, ValueError):
        names = []
    return TrainerFingerprints(records=records, names=names)
