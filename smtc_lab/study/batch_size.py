"""Finds the largest and the fastest batch of a script, for each compiler."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.machine.cores import machine_facts, versions
from smtc_lab.metrics.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.batch_probe import BatchProbe
from smtc_lab.study.batch_search import MOST, search_batch_sizes
from smtc_lab.study.compare_compilers import compiler_jobs, set_ups, this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.batch_sizes import BackendBatches
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.spec.compiler import TrainingCompilerConfig

DEFAULT_STEPS = 10
"""Steps of a trial, as in SageMaker's own finder; the optimizer's state is there after one."""

_SHARE_OF_FREE_MEMORY = 0.9


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
    root: Path | None = None,
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
    launcher = LocalLauncher(root=root)
    jobs = compiler_jobs([job], set_ups(backends, config, ablation=False))
    if problems := [problem for job in jobs for problem in launcher.check(job)]:
        raise SpecError(list(dict.fromkeys(problems)))
    found = []
    for one in jobs:
        probe = BatchProbe(
            launcher=launcher,
            job=one,
            hyperparameter=name,
            memory_limit_bytes=memory_limit_bytes,
        )
        found.append(_searched(probe, start=start, on_trial=on_trial))
    if all(item.problem and item.largest is None for item in found):
        raise RunFailedError(f"No batch could be tried. {found[0].problem}")
    return BatchSizes(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        entry_point=Path(entry_point).name,
        hyperparameter=name,
        steps=steps,
        memory_limit_bytes=memory_limit_bytes,
        backends=tuple(found),
        machine={**machine_facts(), "versions": versions()},
    )


def _searched(
    probe: BatchProbe, *, start: int, on_trial: Callable[[str, BatchTrial], None] | None
) -> BackendBatches:
    label = probe.job.cluster.label

    def tried(batch_size: int) -> BatchTrial:
        trial = probe(batch_size)
        if on_trial is not None:
            on_trial(label, trial)
        return trial

    return backend_batches(label, search_batch_sizes(tried, start=start))


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
