"""``smtc-lab compare``: run a script on several clusters, say which is cheaper."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.catalog.catalog import Catalog, parse_price
from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from smtc_lab.launch.compare import ComparisonOutcome

_EMULATION_OPTIONS = {
    "--device-time": "device_time",
    "--scale": "scale",
    "--cpu-speed": "cpu_speeds",
}


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@click.option(
    "--cluster",
    "clusters",
    multiple=True,
    required=True,
    metavar="[NAME@]GROUP=TYPE:COUNT,…",
    help="A cluster to run on; give it once for each, the baseline first.",
)
@click.option("--steps", type=int, help="Steps of each launch. Default: until the script ends.")
@click.option(
    "--rounds", type=int, default=3, show_default=True, help="Launches of each cluster."
)
@click.option(
    "-p",
    "--hyperparameter",
    "hyperparameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Passed to the script as --NAME VALUE. JSON, or text.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every process.")
@click.option(
    "--device-time",
    type=float,
    metavar="SECONDS",
    help="Declared step time of an emulated accelerator.",
)
@click.option(
    "--scale",
    type=float,
    metavar="CORES",
    help="Cores of this machine for one vCPU. Default: as many as fit.",
)
@click.option(
    "--cpu-speed",
    "cpu_speeds",
    multiple=True,
    metavar="TYPE=FACTOR",
    help="Speed of one vCPU of a type or family, relative to ml.p3.2xlarge.",
)
@click.option(
    "--no-emulation",
    is_flag=True,
    help="Run every instance on this machine as it is, with no CPU quota.",
)
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
    "--runs-dir",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Keep the runs here. Default: with all runs.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def compare(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Run SCRIPT on clusters, in interleaved launches, and compare them.

    Each instance is a process tree of this machine with a CPU quota in proportion to its
    type's vCPUs: a scale model, marked as emulated. SCRIPT needs no change.

    \b
    Example:
      smtc-lab compare --cluster dnn_group=ml.p3.2xlarge:1 \\
        --cluster dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1 \\
        --steps 100 --device-time 0.04 --json comparison.json train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    jobs, catalog = _given(options)
    from smtc_lab.launch.compare import compare as run_comparison  # noqa: PLC0415
    from smtc_lab.views.progress import ProgressLine  # noqa: PLC0415  heavy, after validation

    with ProgressLine(quiet=options["quiet"]) as line:
        outcome = run_comparison(
            jobs,
            rounds=options["rounds"],
            root=options["runs_dir"],
            catalog=catalog,
            progress=line.show,
        )
    _show(outcome, options["json_file"], options["report"])


def _given(options: dict[str, Any]) -> tuple[list[TrainingJob], Catalog]:
    """Return the jobs that the options describe, or refuse all that is wrong at once."""
    problems: list[str] = []
    today = datetime.now(UTC).date()

    def tried(make: Any, *arguments: Any, **values: Any) -> Any:  # noqa: ANN401  any constructor
        try:
            return make(*arguments, **values)
        except SpecError as error:
            problems.extend(error.problems)
        except (SmtcLabError, ValueError) as error:
            problems.append(str(error))
        return None

    clusters = [tried(Cluster.parse, text) for text in options["clusters"]]
    speeds = dict(filter(None, (tried(_speed, text) for text in options["cpu_speeds"])))
    values = dict(filter(None, (tried(_value, text) for text in options["hyperparameters"])))
    prices = list(filter(None, (tried(parse_price, text, today) for text in options["prices"])))
    overrides = {name: (usd, date) for name, usd, date in prices}
    catalog = tried(Catalog.load().with_prices, overrides)
    emulation = None
    if not options["no_emulation"]:
        emulation = tried(
            Emulation,
            cores_per_vcpu=options["scale"],
            device_step_time_s=options["device_time"],
            relative_cpu_speed=speeds,
        )
    jobs = [
        job
        for cluster in filter(None, clusters)
        if (
            job := tried(
                TrainingJob,
                entry_point=str(options["script"]),
                cluster=cluster,
                hyperparameters=values,
                emulation=emulation,
                seed=options["seed"],
                max_steps=options["steps"],
                num_loader_workers=options["loader_workers"],
                num_data_workers=options["data_workers"],
            )
        )
    ]
    problems += _launch_problems(jobs, catalog or Catalog.load(), options)
    problems += _option_problems(options)
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return jobs, catalog


def _launch_problems(
    jobs: list[TrainingJob], catalog: Catalog, options: dict[str, Any]
) -> list[str]:
    """Return why the jobs cannot run here, so that it is said with all the rest."""
    from smtc_lab.launch.local import LocalLauncher  # noqa: PLC0415  the help needs no launcher

    launcher = LocalLauncher(root=options["runs_dir"], catalog=catalog)
    problems = [problem for job in jobs for problem in launcher.check(job)]
    if not jobs and not options["script"].is_file():
        problems.append(f"SCRIPT {str(options['script'])!r} is not a file. Correct the path.")
    return problems


def _option_problems(options: dict[str, Any]) -> list[str]:
    """Return what is wrong with options that are not part of a job."""
    problems = []
    if options["rounds"] < 1:
        problems.append(f"--rounds {options['rounds']} would launch nothing. Give at least 1.")
    if options["no_emulation"]:
        problems += [
            f"{name} is part of an emulation, and --no-emulation wants none. Drop one of them."
            for name, option in _EMULATION_OPTIONS.items()
            if options[option] not in {None, ()}
        ]
    for target in (options["json_file"], options["report"]):
        if target is not None and (why := _cannot_be_written(target)):
            problems.append(f"{str(target)!r} cannot be written: {why}. Give another path.")
    return problems


def _cannot_be_written(target: Path) -> str | None:
    """Return why, before minutes of runs are spent on the file; None: it can."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        is_new = not target.exists()
        target.open("ab").close()
        if is_new:
            target.unlink()
    except OSError as error:
        return error.strerror
    return None


def _value(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"Hyperparameter {text!r} has no '='. Write NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _speed(text: str) -> tuple[str, float]:
    name, _, factor = text.partition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise ValueError(
            f"CPU speed {text!r} is not TYPE=FACTOR. Write for example c5=1.4."
        ) from None


def _show(outcome: ComparisonOutcome, json_file: Path | None, report: Path | None) -> None:
    from smtc_lab.views.table import comparison_table  # noqa: PLC0415  after the runs

    click.echo(comparison_table(outcome.comparison))
    if json_file is not None:
        json_file.write_text(outcome.comparison.to_json() + "\n", encoding="utf-8")
        click.echo(f"Comparison: {json_file}")
    if report is not None:
        from smtc_lab.views.report import write_report  # noqa: PLC0415  matplotlib is slow

        write_report(outcome.comparison, outcome.runs, report)
        click.echo(f"Report: {report}")
