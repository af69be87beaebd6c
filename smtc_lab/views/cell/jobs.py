"""The jobs that the options of ``%%smtc`` describe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.distribution import parse_distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob, parse_hyperparameter
from smtc_lab.study.comparison.compare_compilers import compiler_jobs, set_ups, this_machine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def described_jobs(options: argparse.Namespace, entry_point: Path) -> tuple[TrainingJob, ...]:
    """Return one job for each cluster and each compiler.

    Raises:
        SpecError: Something that was given is not legal, or would be without effect.
    """
    _refuse_what_has_no_effect(options)
    clusters = [Cluster.parse(text) for text in options.cluster]
    distribution = parse_distribution(
        options.data,
        options.shard,
        pipeline=options.pipeline,
        microbatches=options.microbatches,
        schedule=options.schedule,
        tensor=options.tensor,
        reduce_on=options.reduce_on,
    )
    emulated = _emulated(clusters, options) if clusters else [None]
    here = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")]))
    jobs = tuple(
        TrainingJob(
            entry_point=str(entry_point),
            cluster=cluster,
            hyperparameters=dict(map(parse_hyperparameter, options.hyperparameter)),
            arguments=options.arguments,
            distribution=distribution,
            max_steps=options.steps,
            working_dir=options.working_dir,
            environment={"PYTHONPATH": here},  # a cell imports what its notebook can import
            emulation=emulation,
        )
        for cluster, emulation in zip(clusters or [this_machine()], emulated, strict=True)
    )
    if options.compiler is None:
        return jobs
    given = {"precision": options.precision, "fallback": options.fallback}
    config = TrainingCompilerConfig(**{k: v for k, v in given.items() if v is not None})
    names = [name.strip() for name in options.compiler.split(",") if name.strip()]
    return compiler_jobs(jobs, set_ups(names, config, ablation=False))


def _emulated(
    clusters: Sequence[Cluster], options: argparse.Namespace
) -> list[Emulation | None]:
    """Return the emulation of each cluster."""
    link = None if options.link is None else EmulatedLink.parse(options.link)
    if options.device_time is None:
        return [Emulation(link=link) for _ in clusters]
    times = DeviceTimes.parse(options.device_time).on_each(clusters, Catalog.load())
    return [Emulation(device_step_time_s=each, link=link) for each in times]


def _refuse_what_has_no_effect(options: argparse.Namespace) -> None:
    problems = [
        f"{name} is about compilers, and --compiler names none. Add --compiler, or drop it."
        for name, value in (
            ("--precision", options.precision),
            ("--fallback", options.fallback),
            ("--no-parity", options.no_parity),
        )
        if value and options.compiler is None
    ]
    problems += [
        f"{name} is part of an emulation, and without --cluster there is none. Add --cluster, "
        "or drop it."
        for name, value in (("--device-time", options.device_time), ("--link", options.link))
        if value is not None and not options.cluster
    ]
    if problems:
        raise SpecError(problems)
