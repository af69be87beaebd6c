"""``smtc-lab compare``: run a script on several clusters or compilers, say which is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.say import say, say_cautions
from smtc_lab.cli.writable import unwritable
from smtc_lab.launchers.engines import ENGINES, THIS_MACHINE
from smtc_lab.study.options import job_options
from smtc_lab.study.options.compared_jobs import COMPARED, checks_parity, described_jobs

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.comparison.compare import ComparisonOutcome


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@COMPARED
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
@job_options.RUNS_DIR
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
    with ProgressLine(quiet=options["quiet"]) as line:
        outcome = run_comparison(
            jobs,
            rounds=options["rounds"],
            within=options["within"],
            on=launcher,
            catalog=catalog,
            progress=line.show,
            parity=ParityLaunches(jobs=tuple(jobs)) if checks_parity(options) else None,
        )
    _show(outcome, options["json_file"], options["report"])


def _given(options: dict[str, Any]) -> tuple[list[TrainingJob], Launcher, Catalog]:
    """Return what the options describe, and what launches it, or refuse all that is wrong."""
    if not (options["clusters"] or options["compiler"] or options["environments"]):
        raise click.UsageError(
            "Missing option '--cluster', '--compiler' or '--python-environment'."
        )
    refusals = job_options.Refusals()
    jobs, catalog = described_jobs(options, str(options["script"]), refusals)
    from smtc_lab.launchers.run import launcher_named  # noqa: PLC0415  the help needs no launcher

    launcher = launcher_named(options["on"], root=options["runs_dir"], catalog=catalog)
    refusals.problems += _launch_problems(jobs, launcher, options)
    refusals.problems += unwritable(options["json_file"], options["report"])
    refusals.raise_if_any()
    return jobs, launcher, catalog


def _launch_problems(
    jobs: list[TrainingJob], launcher: Launcher, options: dict[str, Any]
) -> list[str]:
    """Return why the jobs cannot run here, so that it is said with all the rest."""
    problems = [problem for job in jobs for problem in launcher.check(job)]
    if not jobs and not options["script"].is_file():
        problems.append(f"SCRIPT {str(options['script'])!r} is not a file. Correct the path.")
    return problems


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
