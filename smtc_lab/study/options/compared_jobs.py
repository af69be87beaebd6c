"""The options that say what is launched, and the jobs that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.options import distribution_options, job_options
from smtc_lab.study.options.emulation_options import EMULATION, EMULATION_OPTIONS, emulations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.study.options.job_options import Refusals

_COMPILER_OPTIONS = {
    "--precision": "precision",
    "--ablation": "ablation",
    "--no-parity": "no_parity",
    "--debug-compiler": "debug_compiler",
    "--fallback": "fallback",
}
_CLUSTERS = click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="[NAME@]GROUP=TYPE:COUNT,…",
    help="A cluster to run on; several are compared, the baseline first. Default, beside "
    "--compiler: this machine as it is, here=local:1.",
)
_COMPILERS = click.option(
    "--compiler",
    metavar="NAME,…",
    help="Compilers to run under: eager, inductor, xla, auto; the baseline first.",
)
_LOADER_WORKERS = click.option(
    "--loader-workers",
    type=int,
    metavar="N",
    help="Data workers on each training instance.",
)
_DATA_WORKERS = click.option(
    "--data-workers", type=int, metavar="N", help="Data workers on each data instance."
)
_OPTIONS = (
    _CLUSTERS,
    _COMPILERS,
    click.option(
        "--python-environment",
        "environments",
        metavar="NAME,…",
        help="Python environments to run in, as 'smtc-lab environment' lists them; the "
        "baseline first. 'today' is this one.",
    ),
    job_options.PRECISION,
    click.option(
        "--ablation",
        is_flag=True,
        help="Begin with plain eager and add one factor at a time: memory, optimizer, "
        "precision, compiler.",
    ),
    click.option(
        "--no-parity",
        is_flag=True,
        help="Do not check that every compiler trains the same model.",
    ),
    job_options.DEBUG_COMPILER,
    job_options.FALLBACK,
    job_options.STEPS,
    job_options.ROUNDS,
    job_options.WITHIN,
    job_options.HYPERPARAMETERS,
    job_options.ENVIRONMENT,
    job_options.METRICS,
    distribution_options.DISTRIBUTIONS,
    job_options.SEED,
    EMULATION,
    job_options.PRICES,
    _LOADER_WORKERS,
    _DATA_WORKERS,
    job_options.WORKING_DIR,
)
_OF_ONE = (
    _CLUSTERS,
    _COMPILERS,
    job_options.PRECISION,
    job_options.FALLBACK,
    job_options.HYPERPARAMETERS,
    job_options.ENVIRONMENT,
    distribution_options.DISTRIBUTION,
    _LOADER_WORKERS,
    _DATA_WORKERS,
)
_NOT_OF_ONE = {
    "ablation": False,
    "debug_compiler": False,
    "environments": None,
    "metrics": (),
    "no_emulation": True,
    "no_parity": False,
    "prices": (),
    "rounds": 1,
    **dict.fromkeys(EMULATION_OPTIONS.values()),
    "cpu_speeds": (),
}


def COMPARED(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  as click's own
    """Add the options of what is launched to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def ONE_JOB(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  as click's own
    """Add those of the options that say what one job is, on this machine as it is."""
    for option in reversed(_OF_ONE):
        command = option(command)
    return command


def described_job(
    options: dict[str, Any], entry_point: str, refusals: Refusals
) -> TrainingJob | None:
    """Return the job that the options of ``ONE_JOB`` describe; None: they do not describe one.

    Args:
        options: What was typed, with ``steps``, ``seed`` and ``working_dir``.
        entry_point: The script.
        refusals: Takes all that is wrong, or would be without effect.
    """
    jobs, _ = described_jobs({**_NOT_OF_ONE, **options}, entry_point, refusals)
    if len(jobs) > 1:
        labels = ", ".join(job.cluster.label for job in jobs)
        refusals.problems.append(
            f"{len(jobs)} set-ups are described ({labels}), and one is launched here. Give one "
            "--cluster and one --compiler."
        )
    return jobs[0] if jobs else None


def described_jobs(
    options: dict[str, Any],
    entry_point: str,
    refusals: Refusals,
    *,
    variables: Mapping[str, str] | None = None,
) -> tuple[list[TrainingJob], Catalog]:
    """Return one job for each set-up that the options describe, and the catalog with prices.

    Args:
        options: What was typed, by the names of ``COMPARED``.
        entry_point: The script.
        refusals: Takes all that is wrong, or would be without effect.
        variables: Of the environment, where the options do not name them.
    """
    catalog = job_options.catalog_with(options["prices"], refusals)
    given = job_options.script_values(options, refusals)
    given["environment"] = {**(variables or {}), **given["environment"]}
    shared = {
        **given,
        "entry_point": entry_point,
        "seed": options["seed"],
        "max_steps": options["steps"],
        "num_loader_workers": options["loader_workers"],
        "num_data_workers": options["data_workers"],
    }
    parsed = [refusals.tried(Cluster.parse, text) for text in options["clusters"]]
    clusters = list(filter(None, parsed)) if parsed else _this_machine()
    emulated = emulations(options, clusters, catalog, refusals)
    made = [
        refusals.tried(TrainingJob, cluster=cluster, emulation=emulation, **shared)
        for cluster, emulation in zip(clusters, emulated, strict=True)
    ]
    jobs = [job for job in made if job is not None]
    for multiplied, is_asked in (
        (_with_distributions, True),
        (_in_environments, options["environments"] is not None),
        (_under_compilers, bool(options["compiler"])),
    ):
        if is_asked:
            jobs = refusals.tried(multiplied, jobs, options) or []
    refusals.problems += _without_effect(options)
    return jobs, catalog


def checks_parity(options: dict[str, Any]) -> bool:
    """Whether it is checked that all set-ups train the same model."""
    return bool(options["compiler"] or options["environments"]) and not options["no_parity"]


def _this_machine() -> list[Cluster]:
    from smtc_lab.study.comparison.compare_compilers import this_machine  # noqa: PLC0415  the help needs no launcher

    return [this_machine()]


def _with_distributions(jobs: list[TrainingJob], options: dict[str, Any]) -> list[TrainingJob]:
    """Return every job with every distribution, or refuse one."""
    given = distribution_options.listed_values(options)
    if not given:
        return jobs
    from smtc_lab.study.comparison.distribution_setups import (  # noqa: PLC0415  as above
        distribution_jobs,
        distribution_set_ups,
    )

    set_ups = distribution_set_ups(given)
    if len(set_ups) > 1:
        return list(distribution_jobs(jobs, set_ups))
    spread = set_ups[0].distribution
    return [TrainingJob(**{**dict(job), "distribution": spread}) for job in jobs]


def _in_environments(jobs: list[TrainingJob], options: dict[str, Any]) -> list[TrainingJob]:
    """Return every job in every environment, or refuse a name."""
    from smtc_lab.study.comparison.compare_environments import environment_jobs  # noqa: PLC0415  as above

    return list(environment_jobs(jobs, job_options.names_in(options["environments"])))


def _under_compilers(jobs: list[TrainingJob], options: dict[str, Any]) -> list[TrainingJob]:
    """Return every job under every compiler.

    Raises:
        SpecError: A compiler is unknown, or cannot be compared so.
    """
    from smtc_lab.study.comparison.compare_compilers import compiler_jobs, set_ups  # noqa: PLC0415  as above

    names, config = (
        job_options.names_in(options["compiler"]),
        job_options.compiler_config(options),
    )
    return list(compiler_jobs(jobs, set_ups(names, config, ablation=options["ablation"])))


def _without_effect(options: dict[str, Any]) -> list[str]:
    """Return what is wrong with options that say nothing about these jobs."""
    problems = []
    if options["rounds"] < 1:
        problems.append(f"--rounds {options['rounds']} would launch nothing. Give at least 1.")
    without = None if options["clusters"] else "without --cluster there is none"
    without = "--no-emulation wants none" if options["no_emulation"] else without
    if without is not None:
        problems += [
            f"{name} is part of an emulation, and {without}. Drop one of them."
            for name, option in EMULATION_OPTIONS.items()
            if options[option] not in {None, ()}
        ]
    if not options["compiler"]:
        problems += [
            f"{name} is about compilers, and --compiler names none. Add --compiler, or drop it."
            for name, option in _COMPILER_OPTIONS.items()
            if options[option] and not (option == "no_parity" and options["environments"])
        ]
    return problems
