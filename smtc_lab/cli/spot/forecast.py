"""``smtc-lab spot``: what a job on spot instances will cost and when it will end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.say import say
from smtc_lab.cli.writable import unwritable
from smtc_lab.errors import PlannerError
from smtc_lab.study.options import job_options

if TYPE_CHECKING:
    from smtc_lab.planner.spot.result import SpotForecast

_FILE = click.Path(path_type=Path)
_SECONDS_PER_HOUR = 3600.0
_OPTIONS = {
    "save_s": "--save",
    "restart_s": "--restart",
    "save_every_s": "--save-every",
    "spot_usd_per_hour": "--spot-price",
    "on_demand_usd_per_hour": "--on-demand-price",
    "instance_type": "--instance-type",
    "prices": "--prices",
}
"""Options by the names of Python's arguments."""


@click.command("spot")
@click.option("--hours", type=float, metavar="H", help="Hours of the job's steps.")
@click.option(
    "--plan",
    "plan_file",
    type=_FILE,
    help="Take steps, start-up and instances of this plan, a file of 'smtc-lab plan --json'.",
)
@click.option(
    "--run",
    "run_name",
    metavar="NAME",
    help="Take steps, saves, starts and instances of this completed run.",
)
@click.option(
    "--measured",
    multiple=True,
    metavar="NAME",
    help="Lay this completed run under a market beside the forecast. Repeatable.",
)
@click.option("--cluster", help="Which cluster of the plan. Default: its cheapest.")
@click.option(
    "--save",
    type=float,
    metavar="SECONDS",
    help="For how long a save holds the training up. Default: as the run measured it.",
)
@click.option(
    "--restart",
    type=float,
    metavar="SECONDS",
    help="From a new instance to the next step. Default: as plan or run measured it.",
)
@click.option(
    "--save-every",
    metavar="SECONDS|auto|own",
    default="auto",
    show_default=True,
    help="Work between two saves. auto: what is cheapest; own: as the run did.",
)
@click.option(
    "--mean-time-between",
    type=float,
    metavar="SECONDS",
    help="For how long spot instances last in the mean. Default: as in the --run's market; "
    "its time scale counts in any case.",
)
@click.option(
    "--variation",
    type=float,
    help="Standard deviation over that mean; 1.5 to 2.6 in published traces. Default: 1.",
)
@click.option(
    "--mean-wait",
    type=float,
    metavar="SECONDS",
    help="For how long there are none then, in the mean. Default: 0.",
)
@click.option(
    "--trace",
    type=_FILE,
    help="JSON file with the instances at each tick, in place of --mean-time-between.",
)
@click.option(
    "--deadline", type=float, metavar="SECONDS", help="Longest that the job may take."
)
@click.option(
    "--within-hours", type=float, metavar="H", help="Hours in which the job must have ended."
)
@click.option("--instance-type", help="Of whose prices are looked up.")
@click.option("--instances", type=int, default=1, show_default=True, help="How many.")
@click.option(
    "--spot-price", type=float, metavar="USD", help="Of one spot instance for an hour."
)
@click.option(
    "--on-demand-price",
    type=float,
    metavar="USD",
    help="Of one on-demand instance for an hour. Default: the catalog's.",
)
@click.option(
    "--prices",
    type=_FILE,
    help="CSV file with the columns type, region, az, spot, on_demand and date.",
)
@click.option("--region", help="Which rows of --prices count.")
@click.option("--az", help="Which rows of --prices count. Default: the cheapest zone.")
@click.option(
    "--futures", type=int, default=10_000, show_default=True, help="How many are played."
)
@click.option("--seed", type=int, default=0, show_default=True, help="What draws them.")
@click.option("--json", "json_file", type=_FILE, help="Write the forecast here.")
@click.option("--runs-dir", type=_FILE, help="Folder of runs. Default: the usual one.")
def forecast(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Tell what a job on spot instances will cost and when it will end.

    It plays thousands of futures of the market under four policies: on-demand instances alone,
    spot alone, spot until on-demand can only just end in time, and uniform progress.

    \b
    Example:
      smtc-lab spot --hours 48 --within-hours 52 --save 20 --restart 300 \\
        --mean-time-between 7200 --variation 2 --mean-wait 3600 \\
        --instance-type ml.p3.2xlarge --spot-price 1.3
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    refusals.problems += _problems(options)
    refusals.problems += unwritable(options["json_file"])
    every_s = _save_every(options["save_every"], refusals)
    refusals.raise_if_any()
    from smtc_lab.planner.spot.forecast import spot_forecast  # noqa: PLC0415  a help needs none

    work = refusals.tried(_work, options)
    refusals.raise_if_any()
    made = refusals.tried(
        spot_forecast,
        work,
        save_s=options["save"],
        restart_s=options["restart"],
        lifetimes=lifetimes_of(options, work),
        deadline_s=_deadline_s(options),
        save_every_s=every_s,
        instance_type=options["instance_type"],
        instances=options["instances"],
        spot_usd_per_hour=options["spot_price"],
        on_demand_usd_per_hour=options["on_demand_price"],
        prices=options["prices"],
        region=options["region"],
        az=options["az"],
        futures=options["futures"],
        seed=options["seed"],
    )
    refusals.problems = [_in_options(problem) for problem in refusals.problems]
    refusals.raise_if_any()
    if options["measured"]:
        made = refusals.tried(_with_measured, made, options)
        refusals.raise_if_any()
    say(str(made))
    if options["json_file"] is not None:
        options["json_file"].write_text(made.to_json() + "\n", encoding="utf-8")
        say(f"Forecast: {options['json_file']}")


def _in_options(problem: str) -> str:
    """Return a refusal with the names that a shell has."""
    for name, option in _OPTIONS.items():
        told = rf"\b{name}(?:=(?=[\s,.])|(?= is not given))"
        problem = re.sub(told, option, problem)
    return problem


def _with_measured(made: SpotForecast, options: dict[str, Any]) -> SpotForecast:
    from smtc_lab.launchers.run import Run  # noqa: PLC0415  others need none

    runs = [Run.open(name, root=options["runs_dir"]) for name in options["measured"]]
    return made.with_measured(*runs)


def _work(options: dict[str, Any]) -> Any:  # noqa: ANN401  hours, a cluster of a plan, a run
    """Return the time of the job's steps in seconds, a cluster of the plan, or the run."""
    if options["run_name"] is not None:
        from smtc_lab.launchers.run import Run  # noqa: PLC0415  others need none

        return Run.open(options["run_name"], root=options["runs_dir"])
    path = options["plan_file"]
    if path is None:
        return options["hours"] * _SECONDS_PER_HOUR
    from smtc_lab.planner.plan import Plan  # noqa: PLC0415  as above

    try:
        plan = Plan.from_json(path.read_bytes())
    except OSError as error:
        raise PlannerError(
            f"The plan {path} cannot be read ({error.strerror}). Check the path."
        ) from error
    cluster = options["cluster"]
    return plan.best if cluster is None else plan.cluster(cluster)


def lifetimes_of(options: dict[str, Any], work: Any) -> Any:  # noqa: ANN401  a market, or numbers
    """Return how long instances last: as they are given, and else as in the run's market."""
    names = {"mean_time_between_s": "mean_time_between", "mean_wait_s": "mean_wait"}
    given = {field: options[name] for field, name in names.items() if options[name] is not None}
    given |= {} if options["variation"] is None else {"variation": options["variation"]}
    if options["trace"] is not None:
        given["trace"] = str(options["trace"])
    from smtc_lab.planner.spot.lifetimes import market_with  # noqa: PLC0415  a help needs none

    market = getattr(getattr(work, "job", None), "market", None)
    if market is not None:
        return market_with(market, given)
    return given.get("trace", given) or None


def _deadline_s(options: dict[str, Any]) -> float | None:
    hours: float | None = options["within_hours"]
    given: float | None = options["deadline"]
    return given if hours is None else hours * _SECONDS_PER_HOUR


def _save_every(text: str, refusals: job_options.Refusals) -> float | str:
    if text in {"auto", "own"}:
        return text
    try:
        return float(text)
    except ValueError:
        refusals.problems.append(
            f"--save-every {text!r} is neither seconds nor 'auto' nor 'own'. Correct it."
        )
        return "auto"


def _problems(options: dict[str, Any]) -> list[str]:
    """Return which options do not go together."""
    problems = []
    has_plan, has_run = options["plan_file"] is not None, options["run_name"] is not None
    if (options["hours"] is not None) + has_plan + has_run != 1:
        problems.append("Give --hours of work, a --plan with steps, or a --run: one of them.")
    if options["save"] is None and not has_run:
        problems.append("--save is not known. Give the seconds that one takes, or a --run.")
    if options["cluster"] is not None and not has_plan:
        problems.append("--cluster is one of a --plan. Give that, too, or drop it.")
    if options["restart"] is None and not (has_plan or has_run):
        problems.append("--restart is not known. Give the seconds up to the next step.")
    has_mean, has_trace = options["mean_time_between"] is not None, options["trace"] is not None
    if has_mean and has_trace:
        problems.append("--mean-time-between and --trace both say when. Drop one.")
    if not (has_mean or has_trace or has_run):
        problems.append(
            "Give either --mean-time-between in seconds, a --trace, or a --run under a market."
        )
    if options["deadline"] is not None and options["within_hours"] is not None:
        problems.append("--deadline and --within-hours both say when. Drop one.")
    return problems
