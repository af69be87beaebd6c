"""``smtc-lab plan``: what every cluster would cost, predicted from a calibration."""

from __future__ import annotations

import datetime as dt
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.catalog.catalog import Catalog, parse_price
from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.cli.say import say
from smtc_lab.cli.writable import unwritable
from smtc_lab.study.options import job_options
from smtc_lab.study.options.emulation_options import DEVICE_TIME, LINK, given_link

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.study.watched_run import Progress


_MOST_HOURS = 24.0 * 365


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option("--steps", type=int, help="Optimizer steps of the job.")
@click.option("--budget", type=float, metavar="USD", help="Most that an hour may cost.")
@click.option("--job-budget", type=float, metavar="USD", help="Most that the job may cost.")
@click.option(
    "--deadline", type=float, metavar="SECONDS", help="Longest that the job may take."
)
@click.option(
    "--before",
    metavar="TIME",
    help="When the job must have ended, if it is launched now: 2026-12-01T12:00. Any number "
    "of devices and instances is tried, as with --within-hours.",
)
@click.option(
    "--within-hours", type=float, metavar="H", help="Hours in which the job must have ended."
)
@click.option(
    "--devices",
    metavar="N|any",
    help="Accelerators of a cluster. any: --steps are of one, and n make an n-th. Default: 1.",
)
@click.option(
    "--mode",
    type=click.Choice(["weak", "strong"]),
    default="weak",
    show_default=True,
    help="weak: each device keeps its batch. strong: devices share that of a step.",
)
@click.option("--max-instances", type=int, help="Most training instances.")
@click.option("--families", metavar="NAME,…", help="Instance families to choose from.")
@job_options.PRICES
@click.option(
    "--max-data-instances",
    type=int,
    default=16,
    show_default=True,
    help="Most instances that prepare data.",
)
@click.option(
    "--calibration",
    "calibration_file",
    type=click.Path(path_type=Path),
    help="Use this calibration instead of measuring; it must be of SCRIPT.",
)
@job_options.HYPERPARAMETERS
@DEVICE_TIME
@LINK
@click.option(
    "--device-s",
    "device_s",
    multiple=True,
    metavar="NAME=SECONDS,…",
    help="What a step takes on accelerators beside that which was calibrated, by their names "
    "(V100), families or instance types; --device-time says it of all that are known.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the plan here."
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    help="Write the chart of time against cost here, as PNG or SVG.",
)
@click.option(
    "--runs-dir",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Keep the runs of a calibration here. Default: with all runs.",
)
@job_options.WORKING_DIR
@click.option("--quiet", is_flag=True, help="Show no progress, only the result.")
def plan(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Predict step time and cost of SCRIPT on every cluster, and say what to rent.

    Measures SCRIPT on this machine first, about three minutes, unless a calibration is given;
    40 seconds of them for launches that are repeated, to see how far two of them differ.

    \b
    Example:
      smtc-lab plan --steps 5000 --budget 60 -p batch_size=32 train.py
      smtc-lab plan --steps 50000 --before 2026-12-01T12:00 train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    values = job_options.hyperparameter_values(options["hyperparameters"], refusals)
    if options["device_time"] is not None:
        refusals.tried(DeviceTimes.parse, options["device_time"])
    refusals.problems += _problems(options)
    refusals.problems += unwritable(options["json_file"], options["figure"])
    limits = _limits(options, refusals)
    refusals.raise_if_any()
    from smtc_lab.planner.plan import plan as make_plan  # noqa: PLC0415  after all that is refused

    made = make_plan(_calibration(options, values), **limits)
    if options["json_file"] is not None:
        options["json_file"].write_text(made.to_json() + "\n", encoding="utf-8")
    from smtc_lab.views.plan.describer import describe_plan  # noqa: PLC0415  as above
    from smtc_lab.views.plan.words import plan_text  # noqa: PLC0415  as above

    info = describe_plan(made)
    say(plan_text(info))
    if options["json_file"] is not None:
        say(f"Plan: {options['json_file']}")
    if options["figure"] is not None:
        from smtc_lab.views.plan.figures import write_plan_figure  # noqa: PLC0415  as above

        write_plan_figure(info, options["figure"])
        say(f"Figure: {options['figure']}")


def _limits(options: dict[str, Any], refusals: job_options.Refusals) -> dict[str, Any]:
    """Return what the plan is asked for, refused before minutes of runs are spent on it."""
    from smtc_lab.planner.plan_settings import settings_of  # noqa: PLC0415  as above

    families = options["families"]
    limits = {
        "budget_usd_per_hour": options["budget"],
        "budget_usd": options["job_budget"],
        "deadline_s": options["deadline"],
        "before": _moment(options, refusals),
        "num_devices": _num_devices(options, refusals),
        "mode": options["mode"],
        "max_trainers": options["max_instances"],
        "steps": options["steps"],
        "families": None if families is None else job_options.names_in(families),
        "max_data_instances": options["max_data_instances"],
        "link": given_link(options["link"], refusals),
        "device_s": options["device_time"]
        or dict(
            pair
            for text in options["device_s"]
            for each in text.split(",")
            if (pair := _device_s(each, refusals)) is not None
        ),
    }
    prices = _prices(options["prices"], refusals)
    if not refusals.problems:
        # when a job must have ended is known only when the plan is made
        checked = {name: value for name, value in limits.items() if name != "before"}
        checked["max_trainers"] = (
            1 if limits["max_trainers"] is None else limits["max_trainers"]
        )
        refusals.tried(settings_of, None, prices or "on-demand", **checked)
    return {**limits, "prices": prices or "on-demand"}


def _moment(options: dict[str, Any], refusals: job_options.Refusals) -> dt.datetime | None:
    """Return when the job must have ended; None: whenever."""
    text, hours = options["before"], options["within_hours"]
    now = dt.datetime.now().astimezone()
    if hours is not None:
        if 0 < hours < _MOST_HOURS:
            return now + dt.timedelta(hours=hours)
        refusals.problems.append(f"--within-hours {hours:g} is not above 0. Raise it.")
    if text is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(text).astimezone()
    except ValueError:
        refusals.problems.append(
            f"--before {text!r} is no time. Write for example --before 2026-12-01T12:00."
        )
        return None
    if moment <= now:
        refusals.problems.append(f"--before {text!r} is over. Give a time to come.")
    return moment


def _num_devices(options: dict[str, Any], refusals: job_options.Refusals) -> int | None:
    """Return the accelerators of each cluster; None: any number."""
    text = options["devices"]
    has_moment = options["before"] is not None or options["within_hours"] is not None
    if text == "any" or (text is None and has_moment):
        return None
    if text is None or text.isdecimal():
        return int(text or 1)
    refusals.problems.append(f"--devices {text!r} is neither a number nor 'any'. Correct it.")
    return 1


def _calibration(options: dict[str, Any], values: dict[str, Any]) -> Calibration:
    """Return the calibration that is given, or measure one."""
    script, file = options["script"], options["calibration_file"]
    if file is not None:
        from smtc_lab.planner.calibration.calibration import Calibration  # noqa: PLC0415  as above
        from smtc_lab.planner.workload_hash import workload_hash  # noqa: PLC0415  as above

        return Calibration.load(
            file, workload=workload_hash(script, values, options["arguments"])
        )
    from smtc_lab.planner.calibration.calibrate import (  # noqa: PLC0415  as above
        calibrate,
        kept_at,
    )

    calibration = calibrate(
        script,
        hyperparameters=values,
        arguments=options["arguments"],
        root=options["runs_dir"],
        progress=None if options["quiet"] else _teller(),
        device_s=options["device_time"],
        working_dir=options["working_dir"],
    )
    # before the plan, which may be refused, so that nobody measures twice
    kept = shlex.quote(str(kept_at(calibration, options["runs_dir"])))
    say(f"Calibration, to plan again without measuring: --calibration {kept}", err=True)
    return calibration


def _teller() -> Callable[[Progress], None]:
    """Return what says once on stderr that a launch of the calibration has begun."""
    told: set[int] = set()

    def tell(progress: Progress) -> None:
        if progress.launch not in told:
            told.add(progress.launch)
            say(
                f"Calibrating, launch {progress.launch} of {progress.launches}: "
                f"{progress.cluster}",
                err=True,
            )

    return tell


def _prices(
    texts: tuple[str, ...], refusals: job_options.Refusals
) -> dict[str, tuple[float, str]]:
    today = dt.datetime.now(dt.UTC).date()
    parsed = filter(None, (refusals.tried(parse_price, text, today) for text in texts))
    prices = {name: (usd, date) for name, usd, date in parsed}
    refusals.tried(Catalog.load().with_prices, prices)
    return prices


def _device_s(text: str, refusals: job_options.Refusals) -> tuple[str, float] | None:
    """Return one NAME=SECONDS; what it names is checked with the catalog."""
    name, _, number = text.rpartition("=")
    with suppress(ValueError):
        if name.strip():
            return name.strip(), float(number)
    refusals.problems.append(
        f"--device-s {text!r} is not NAME=SECONDS. Write for example "
        "--device-s V100=0.05,A100=0.02."
    )
    return None


def _problems(options: dict[str, Any]) -> list[str]:
    """Return what is wrong with options, before minutes of runs are spent on them."""
    script, figure = options["script"], options["figure"]
    problems = []
    if not script.is_file():
        problems.append(f"SCRIPT {str(script)!r} is not a file. Correct the path.")
    if options["device_s"] and options["device_time"] is not None:
        problems.append("--device-s and --device-time both say what a step takes. Drop one.")
    if figure is not None and figure.suffix not in {".png", ".svg"}:
        problems.append(f"--figure {str(figure)!r} is neither PNG nor SVG. End it in .png.")
    for name in ("--job-budget", "--deadline", "--before", "--within-hours"):
        given = options[name.removeprefix("--").replace("-", "_")]
        if given is not None and options["steps"] is None:
            problems.append(f"{name} is of the whole job. Give its --steps, too.")
    if options["before"] is not None and options["within_hours"] is not None:
        problems.append("--before and --within-hours both say when. Drop one.")
    return problems
