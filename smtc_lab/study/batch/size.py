"""Finds the largest and the fastest batch of a script, for each compiler."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import launcher_named, lives_on
from smtc_lab.machine.cores import machine_facts, versions
from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.batch.probe import BatchProbe
from smtc_lab.study.batch.search import MOST, search_batch_sizes
from smtc_lab.study.comparison.compare_compilers import compiler_jobs, set_ups, this_machine
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.study_run import StudyRun, start_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import StrPath

    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.study.watched_run import LaunchWatch

DEFAULT_STEPS = 10
"""Steps of a trial, as in SageMaker's own finder; the optimizer's state is there after one."""

_SHARE_OF_FREE_MEMORY = 0.9
_LOOK_S = 0.5

BATCH_SIZE = "batch-size"
"""Name of the kind of study."""


def find_batch_size(  # noqa: PLR0913  options by name, all with a default
    entry_point: str | Path,
    *,
    name: str = "batch_size",
    backends: Sequence[str | TrainingCompilerConfig] | None = None,
    config: TrainingCompilerConfig | None = None,
    start: int = 8,
    steps: int = DEFAULT_STEPS,
    memory_limit_bytes: int | None = None,
    cluster: Cluster | None = None,
    hyperparameters: dict[str, Any] | None = None,
    root: StrPath | None = None,
    on_trial: Callable[[str, BatchTrial], None] | None = None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> BatchSizes:
    """Find the largest batch that each compiler can train with, and how fast batches are.

    Each trial is a short launch of a fresh process, which may run out of memory. The size
    doubles until one does not fit; what lies between is bisected. A compiler's largest batch
    may be smaller than eager's, and may still be the faster one.

    Args:
        entry_point: Path of the script.
        name: Hyperparameter of the script that holds its batch size.
        backends: As for ``compare_compilers``.
        config: As for ``compare_compilers``.
        start: First batch size to try, 1 to 2**20.
        steps: Steps of each trial, at least 2.
        memory_limit_bytes: Memory for data that a trainer process may take, about 1 GB of
            which torch itself needs. None: on a machine without a GPU, 90 % of what is free
            now; with a GPU, what the GPU has.
        cluster: What to run on; None: this machine as it is.
        hyperparameters: Other values for the script.
        root: Folder of runs; None: the default one.
        on_trial: Called with the set-up's label and each trial.
        **fields: Further fields of ``TrainingJob``.

    Raises:
        SpecError: A set-up cannot run here; nothing was started.
        RunFailedError: Under no set-up any batch could be tried; says why.
    """
    _refuse(start, steps, memory_limit_bytes)
    if memory_limit_bytes is None and not machine_facts()["gpus"]:
        memory_limit_bytes = int(psutil.virtual_memory().available * _SHARE_OF_FREE_MEMORY)
    job = TrainingJob(
        entry_point=str(entry_point),
        cluster=this_machine() if cluster is None else cluster,
        hyperparameters={**(hyperparameters or {}), name: start},
        max_steps=steps,
        **fields,
    )
    launcher = launcher_named(THIS_MACHINE, root=root)
    jobs = compiler_jobs([job], set_ups(backends, config, ablation=False))
    if problems := [problem for job in jobs for problem in launcher.check(job)]:
        raise SpecError(list(dict.fromkeys(problems)))
    request = StudyRequest(
        kind=BATCH_SIZE,
        jobs=tuple(jobs),
        rounds=0,
        root=runs_root(root),
        created=datetime.now(UTC),
        options={
            "hyperparameter": name,
            "start": start,
            "memory_limit_bytes": memory_limit_bytes,
        },
    )
    return BatchSizeRun(start_study(request, detach=lives_on(None))).wait(on_trial)


class BatchSizeRun(StudyRun):
    """A search for batch sizes that goes on by itself, or has ended."""

    def wait(self, on_trial: Callable[[str, BatchTrial], None] | None = None) -> BatchSizes:
        """Wait for the end and return the result. An interrupt (Ctrl-C) stops everything.

        Args:
            on_trial: Called with the set-up's label and each trial.

        Raises:
            RunFailedError: Under no set-up any batch could be tried, or it was stopped.
        """
        told = 0
        try:
            while True:
                state = self._await_process(_LOOK_S)
                for run in state.runs[told:]:
                    if run.found is None:
                        break
                    told += 1
                    if on_trial is not None:
                        on_trial(run.label, BatchTrial.model_validate(run.found))
                if state.is_terminal:
                    break
        except BaseException:
            self.stop()
            raise
        if state.state != "Completed":
            raise RunFailedError(state.reason)
        return BatchSizes.model_validate_json(self.result_json or b"")


def carry_out_request(request: StudyRequest, watch: LaunchWatch) -> str:
    """Try the batches of each set-up, as the process of the search does; the result as JSON.

    Raises:
        RunFailedError: Under no set-up any batch could be tried; says why.
    """
    hyperparameter = str(request.options["hyperparameter"])
    limit_bytes: int | None = request.options["memory_limit_bytes"]
    found = []
    for job in request.jobs:
        probe = BatchProbe(
            launcher=launcher_named(THIS_MACHINE, root=request.root),
            job=job,
            hyperparameter=hyperparameter,
            memory_limit_bytes=limit_bytes,
            watch=watch,
            created=request.created,
        )
        trials = search_batch_sizes(probe, start=int(request.options["start"]))
        found.append(backend_batches(job.cluster.label, trials))
    if all(item.problem and item.largest is None for item in found):
        raise RunFailedError(f"No batch could be tried. {found[0].problem}")
    first = request.jobs[0]
    return BatchSizes(
        created=request.created.isoformat(timespec="seconds"),
        entry_point=Path(first.entry_point).name,
        hyperparameter=hyperparameter,
        steps=first.max_steps or 0,
        memory_limit_bytes=limit_bytes,
        backends=tuple(found),
        machine={**machine_facts(), "versions": versions()},
    ).to_json()


def _refuse(start: int, steps: int, memory_limit_bytes: int | None) -> None:
    problems = []
    if not 1 <= start <= MOST:
        problems.append(f"start={start} is outside 1 to {MOST}. Give the first batch to try.")
    if steps < 2:
        problems.append(
            f"steps={steps} is too few: the first one compiles. Give at least 2, better 10."
        )
    if memory_limit_bytes is not None and memory_limit_bytes < 2**28:
        problems.append(
            f"memory_limit_bytes={memory_limit_bytes} is less than 256 MiB, and torch alone "
            "takes more. Raise it, or leave it out."
        )
    if problems:
        raise SpecError(problems)
