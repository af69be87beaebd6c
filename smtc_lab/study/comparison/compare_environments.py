"""Runs one script in several Python environments and compares them: does upgrading pay?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.machine.environments.named import TODAY
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import DEFAULT_ROUNDS, ComparisonOutcome, compare
from smtc_lab.study.comparison.compare_compilers import job_here
from smtc_lab.study.comparison.parity_launches import ParityLaunches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.study.watched_run import Progress


def compare_environments(  # noqa: PLR0913  options by name, all with a default
    entry_point: str | Path,
    *,
    environments: Sequence[str] | str,
    cluster: Cluster | None = None,
    hyperparameters: dict[str, Any] | None = None,
    steps: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    within: float | None = None,
    parity: bool = True,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    progress: Callable[[Progress], None] | None = None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> ComparisonOutcome:
    """Run a script in several Python environments on this machine and compare its steps.

    Each launch is a fresh process of that environment's interpreter, and launches are
    interleaved. What differs between the environments, package by package, is in the result.

    ::

        outcome = lab.compare_environments("train.py", environments=["today", "torch-2.9"])

    Args:
        entry_point: Path of the script.
        environments: Names as ``smtc-lab environment`` lists them, the baseline first, also
            as ``"today,torch-2.9"``; ``today`` is the one that launches.
        cluster: What to run on; None: this machine as it is.
        hyperparameters: Values for the script.
        steps: Steps of each launch; None: until the script ends.
        rounds: Launches of each environment, at least 1.
        within: End as soon as every speed-up is known so well, as ``compare`` does.
        parity: Whether to check, in short launches of their own, that all train the same model.
        root: Folder of runs; None: the default one. The comparison lies beside it.
        catalog: Types and prices; None: the catalog that comes with the package.
        progress: Called about twice a second while steps are made.
        **fields: Further fields of ``TrainingJob``, such as ``compiler_config`` and ``seed``.

    Raises:
        SpecError: An environment is missing or cannot run the job; nothing was started.
        RunFailedError: The baseline failed, or everything else did; says why.
    """
    job = job_here(entry_point, cluster, hyperparameters, steps, **fields)
    names = environments.split(",") if isinstance(environments, str) else environments
    jobs = environment_jobs([job], [name.strip() for name in names])
    return compare(
        jobs,
        rounds=rounds,
        within=within,
        root=root,
        catalog=catalog,
        progress=progress,
        parity=ParityLaunches(jobs=jobs) if parity else None,
    )


def environment_jobs(
    jobs: Sequence[TrainingJob], names: Sequence[str]
) -> tuple[TrainingJob, ...]:
    """Return each job in each environment, the first job's first.

    With several jobs a label names the cluster too.

    Raises:
        SpecError: No environment is named, one is named twice, or a label is too long.
    """
    if not names:
        raise SpecError(f"There is no environment to compare. Name one, for example {TODAY!r}.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"The environment {twice[0]!r} is given {names.count(twice[0])} times. Name each "
            "one once."
        )
    made = []
    for job in jobs:
        for name in names:
            label = name if len(jobs) == 1 else f"{job.cluster.label}, {name}"
            cluster = Cluster(instance_groups=job.cluster.instance_groups, name=label)
            checked = TrainingJob(
                **{**dict(job), "cluster": cluster, "python_environment": name}
            )
            made.append(checked)
    return tuple(made)
