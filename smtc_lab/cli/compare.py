"""``smtc-lab compare``: run a script on several clusters or compilers, say which is better."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.catalog.catalog import Catalog, parse_price
from smtc_lab.cli import distribution_options, job_options
from smtc_lab.cli.emulation_options import EMULATION, EMULATION_OPTIONS, emulations
from smtc_lab.cli.say import say, say_cautions
from smtc_lab.launchers.engines import ENGINES, THIS_MACHINE
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.study.comparison.compare import ComparisonOutcome

_COMPILER_OPTIONS = {
    "--precision": "precision",
    "--ablation": "ablation",
    "--no-parity": "no_parity",
    "--debug-compiler": "debug_compiler",
    "--fallback": "fallback",
}


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="[NAME@]GROUP=TYPE:COUNT,…",
    help="A cluster to run on; give it once for each, the baseline first. With --compiler, "
    "this machine as it is by default.",
)
@click.option(
    "--compiler",
    metavar="NAME,…",
    help="Compilers to run under: eager, inductor, xla, auto; the baseline first.",
)
@click.option(
    "--python-environment",
    "environments",
    metavar="NAME,…",
    help="Python environments to run in, as 'smtc-lab environment' lists them; the baseline "
    "first. 'today' is this one.",
)
@job_options.PRECISION
@click.option(
    "--ablation",
    is_flag=True,
    help="Begin with plain eager and add one factor at a time: memory, optimizer, precision, "
    "compiler.",
)
@click.option(
    "--no-parity",
    is_flag=True,
    help="Do not check that every compiler trains the same model.",
)
@job_options.DEBUG_COMPILER
@job_options.FALLBACK
@click.option(
    "--steps", type=int, help="Steps of each launch. Default: all; emulated, up to 3 minutes."
)
@click.option(
    "--rounds", type=int, default=3, show_default=True, help="Launches of each cluster."
)
@click.option(
    "--within",
    type=float,
    metavar="FRACTION",
    help="End as soon as the speed-up is known within this much of it (0.05: 5 % either way), "
    "at the latest after --rounds.",
)
@job_options.HYPERPARAMETERS
@job_options.ENVIRONMENT
@distribution_options.DISTRIBUTIONS
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every process.")
@EMULATION
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="TYPE=USD[@DATE]",
    help="Price of an instance type per hour, instead of the catalog's.",
)
@click.option("--loader-workers", type=int, help="Data workers on each training instance.")
@click.option("--data-workers", type=int, help="Data workers on each data instance.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the comparison here."
)
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write an HTML report with figures here."
)
@click.option(
    "--on",
    type=click.Choice([name for name, engine in ENGINES.items() if not engine.is_billed]),
    default=THIS_MACHINE,
    show_default=True,
    help="Where to launch.",
)
@job_options.folders
@click.option("--quiet", is_flag=True, help="Show no progress.")
def compare(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Run SCRIPT on clusters, under compilers or in Python environments, and compare them.

    Launches are interleaved, each in a fresh process. --data 1,2 compares one trainer with two;
    several values of --shard, --pipeline, --microbatches and --schedule go with them, the first
    of each in one set-up, the second in the next.

    By default each instance is a process tree of this machine with a CPU quota in proportion to
    its type's vCPUs, slowed down alike with its accelerator: emulated, and told in cluster
    time. With --on ray it is a node of the Ray cluster at $RAY_ADDRESS, as it is, or with
    --scale a part of it. SCRIPT needs no change. What stands behind it and -- is its own.

    \b
    Examples:
      smtc-lab compare --cluster dnn_group=ml.p3.2xlarge:1 \\
        --cluster dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1 \\
        --steps 20 --device-time 0.04 --json comparison.json train.py
      smtc-lab compare --compiler eager,inductor,xla --steps 200 train.py
      smtc-lab compare --python-environment today,torch-2.9 --steps 200 train.py
      smtc-lab compare --cluster here=local --data 1,2 --steps 200 train.py
      smtc-lab compare --compiler eager,inductor -- train.py --dummy --lr 0.1
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    jobs, launcher, catalog = _given(options)
    # heavy, so after all that can be refused
    from smtc_lab.study.comparison.compare import compare as run_comparison  # noqa: PLC0415
    from smtc_lab.study.comparison.duration import least_time_here  # noqa: PLC0415
    from smtc_lab.study.comparison.parity_launches import ParityLaunches  # noqa: PLC0415
    from smtc_lab.views.progress import ProgressLine  # noqa: PLC0415

    say_cautions(jobs, catalog)
    if took := least_time_here(jobs, launcher.common_dilation, rounds=options["rounds"]):
        say(took, err=True)
    has_parity = (options["compiler"] or options["environments"]) and not options["no_parity"]
    with ProgressLine(quiet=options["quiet"]) as line:
        outcome = run_comparison(
            jobs,
            rounds=options["rounds"],
            within=options["within"],
            on=launcher,
            catalog=catalog,
            progress=line.show,
            parity=ParityLaunches(jobs=tuple(jobs)) if has_parity else None,
        )
    _show(outcome, options["json_file"], options["report"])


def _given(options: dict[str, Any]) -> tuple[list[TrainingJob], Launcher, Catalog]:
    """Return what the options describe, and what launches it, or refuse all that is wrong."""
    if not (options["clusters"] or options["compiler"] or options["environments"]):
        raise click.UsageError(
            "Missing option '--cluster', '--compiler' or '--python-environment'."
        )
    refusals = job_options.Refusals()
    today = datetime.now(UTC).date()
    prices = [refusals.tried(parse_price, text, today) for text in options["prices"]]
    overrides = {name: (usd, date) for name, usd, date in filter(None, prices)}
    catalog = refusals.tried(Catalog.load().with_prices, overrides) or Catalog.load()
    given = job_options.script_values(options, refusals)
    parsed = [refusals.tried(Cluster.parse, text) for text in options["clusters"]]
    clusters = list(filter(None, parsed)) if parsed else _this_machine()
    emulated = emulations(options, clusters, catalog, refusals)
    jobs = [
        job
        for cluster, emulation in zip(clusters, emulated, strict=True)
        if (
            job := refusals.tried(
                TrainingJob,
                entry_point=str(options["script"]),
                cluster=cluster,
                **given,
                emulation=emulation,
                seed=options["seed"],
                max_steps=options["steps"],
                num_loader_workers=options["loader_workers"],
                num_data_workers=options["data_workers"],
            )
        )
    ]
    jobs = refusals.tried(_with_distributions, jobs, options) or []
    if options["environments"] is not None:
        jobs = refusals.tried(_in_environments, jobs, options["environments"]) or []
    if options["compiler"]:
        jobs = refusals.tried(_under_compilers, jobs, options) or []
    from smtc_lab.launchers.run import launcher_named  # noqa: PLC0415  the help needs no launcher

    launcher = launcher_named(options["on"], root=options["runs_dir"], catalog=catalog)
    refusals.problems += _launch_problems(jobs, launcher, options)
    refusals.problems += _option_problems(options)
    refusals.raise_if_any()
    return list(jobs), launcher, catalog


def _this_machine() -> list[Cluster]:
    from smtc_lab.study.comparison.compare_compilers import this_machine  # noqa: PLC0415  as above

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


def _in_environments(jobs: list[TrainingJob], names: str) -> list[TrainingJob]:
    """Return every job in every environment, or refuse a name."""
    from smtc_lab.study.comparison.compare_environments import environment_jobs  # noqa: PLC0415  as above

    return list(environment_jobs(jobs, job_options.backend_names(names)))


def _under_compilers(jobs: list[TrainingJob], options: dict[str, Any]) -> list[TrainingJob]:
    """Return every job under every compiler.

    Raises:
        SpecError: A compiler is unknown, or cannot be compared so.
    """
    from smtc_lab.study.comparison.compare_compilers import compiler_jobs, set_ups  # noqa: PLC0415  as above

    return list(
        compiler_jobs(
            jobs,
            set_ups(
                job_options.backend_names(options["compiler"]),
                job_options.compiler_config(options),
                ablation=options["ablation"],
            ),
        )
    )


def _launch_problems(
    jobs: list[TrainingJob], launcher: Launcher, options: dict[str, Any]
) -> list[str]:
    """Return why the jobs cannot run here, so that it is said with all the rest."""
    problems = [problem for job in jobs for problem in launcher.check(job)]
    if not jobs and not options["script"].is_file():
        problems.append(f"SCRIPT {str(options['script'])!r} is not a file. Correct the path.")
    return problems


def _option_problems(options: dict[str, Any]) -> list[str]:
    """Return what is wrong with options that are not part of a job."""
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
    return problems + job_options.unwritable(options["json_file"], options["report"])


def _show(outcome: ComparisonOutcome, json_file: Path | None, report: Path | None) -> None:
    from smtc_lab.views.report.compiler_section import findings_text  # noqa: PLC0415  after the runs
    from smtc_lab.views.text.table import comparison_table  # noqa: PLC0415  after the runs

    say(comparison_table(outcome.comparison))
    found = findings_text(outcome.comparison, outcome.runs)
    for said in filter(None, (found, outcome.new_files)):
        say(f"\n{said}")
    if json_file is not None:
        json_file.write_text(outcome.comparison.to_json() + "\n", encoding="utf-8")
        say(f"Comparison: {json_file}")
    if report is not None:
        from smtc_lab.views.report.html import write_report  # noqa: PLC0415  matplotlib is slow

        write_report(outcome.comparison, outcome.runs, report)
        say(f"Report: {report}")
