"""Runs one script under several compilers, in interleaved launches, and compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.launchers.compiler_checks import runnable_backends
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import DEFAULT_ROUNDS, ComparisonOutcome, compare
from smtc_lab.study.comparison.compiler_setups import (
    SetUp,
    ablation_set_ups,
    equal_set_ups,
    labelled,
    with_xla_apart,
)
from smtc_lab.study.comparison.parity_launches import ParityLaunches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.study.watched_run import Progress


def compare_compilers(  # noqa: PLR0913  options by name, all with a default
    entry_point: str | Path,
    *,
    backends: Sequence[str | TrainingCompilerConfig] | None = None,
    config: TrainingCompilerConfig | None = None,
    cluster: Cluster | None = None,
    hyperparameters: dict[str, Any] | None = None,
    steps: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    within: float | None = None,
    ablation: bool = False,
    parity: bool = True,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> ComparisonOutcome:
    """Run a script under several compilers on this machine and compare their steps.

    Each launch is a fresh process, and launches are interleaved. Precision, optimizer, memory,
    batch size and threads are the same in all, so that a difference is the compiler's. A
    backend that fails is told in the comparison's warnings, and the others are compared.

    ::

        outcome = lab.compare_compilers("train.py", backends=["eager", "inductor"], steps=200)

    Args:
        entry_point: Path of the script.
        backends: ``eager``, ``inductor``, ``xla``, ``auto``, the baseline first; or whole
            settings, which are then taken as they are. None: all that can run here.
        config: Settings that all share: precision, debug, fallback, …; None: the defaults.
        cluster: What to run on; None: this machine as it is.
        hyperparameters: Values for the script.
        steps: Steps of each launch; None: until the script ends.
        rounds: Launches of each set-up, at least 1.
        within: End as soon as every speed-up is known so well, as ``compare`` does.
        ablation: Begin with plain eager and add one factor at a time, so that each factor's
            share can be told.
        parity: Whether to check, in short launches of their own, that all train the same model.
        root: Folder of runs; None: the default one. The comparison lies beside it.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.
        **fields: Further fields of ``TrainingJob``, such as ``channels`` and ``seed``.

    Raises:
        SpecError: A set-up cannot run here; nothing was started.
        RunFailedError: The baseline failed, or everything else did; says why.
    """
    job = job_here(entry_point, cluster, hyperparameters, steps, **fields)
    return compare(
        jobs := compiler_jobs([job], set_ups(backends, config, ablation=ablation)),
        rounds=rounds,
        within=within,
        root=root,
        catalog=catalog,
        progress=progress,
        parity=ParityLaunches(jobs=jobs) if parity else None,
    )


def job_here(
    entry_point: str | Path,
    cluster: Cluster | None,
    hyperparameters: dict[str, Any] | None,
    steps: int | None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> TrainingJob:
    """Return the job whose set-ups are compared, see ``compare_compilers``.

    Raises:
        SpecError: A value does not fit.
    """
    return TrainingJob(
        entry_point=str(entry_point),
        cluster=this_machine() if cluster is None else cluster,
        hyperparameters={} if hyperparameters is None else hyperparameters,
        max_steps=steps,
        **fields,
    )


def this_machine() -> Cluster:
    """Return the cluster that is this machine as it is."""
    return Cluster(instance_groups=(InstanceGroup("here", LOCAL, 1),), name="this machine")


def set_ups(
    backends: Sequence[str | TrainingCompilerConfig] | None,
    config: TrainingCompilerConfig | None,
    *,
    ablation: bool,
) -> tuple[SetUp, ...]:
    """Return what to compare; see ``compare_compilers``.

    Raises:
        SpecError: A backend is unknown or named twice, or names and settings are mixed.
    """
    backends = runnable_backends() if backends is None else list(backends)
    shared = TrainingCompilerConfig() if config is None else config
    names = [item for item in backends if isinstance(item, str)]
    configs = [item for item in backends if isinstance(item, TrainingCompilerConfig)]
    if not configs:
        by_name = ablation_set_ups if ablation else equal_set_ups
        return by_name(names, shared)
    if names or config is not None or ablation:
        raise SpecError(
            f"backends holds whole settings ({configs[0]!r}), which are taken as they are. "
            "Give settings only, without names of backends, config and ablation."
        )
    return labelled(configs)


def compiler_jobs(
    jobs: Sequence[TrainingJob], of_set_ups: Sequence[SetUp]
) -> tuple[TrainingJob, ...]:
    """Return each job under each set-up, the first job's first.

    With several jobs a label names the cluster too. A job that names no Python environment
    takes XLA's for XLA, where the one that launches has no torch_xla; eager then runs in both.

    Raises:
        SpecError: A label is too long for a table, or a device's step time is declared, which
            no compiler can change.
    """
    made = []
    for job in jobs:
        if job.emulation is not None and job.emulation.device_step_time_s is not None:
            raise SpecError(
                f"The emulated device has a declared step time of "
                f"{job.emulation.device_step_time_s:g} s, which no compiler can change. Leave "
                "it out to compare compilers."
            )
        is_free = job.python_environment is None
        for set_up in with_xla_apart(of_set_ups) if is_free else of_set_ups:
            label = set_up.label if len(jobs) == 1 else f"{job.cluster.label}, {set_up.label}"
            cluster = Cluster(instance_groups=job.cluster.instance_groups, name=label)
            update: dict[str, Any] = {"cluster": cluster, "compiler_config": set_up.config}
            if is_free:
                update["python_environment"] = set_up.python_environment
            made.append(job.model_copy(update=update))
    return tuple(made)
