"""What several commands take: a script's hyperparameters, compilers, prices, files to write."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.catalog.catalog import Catalog, parse_price
from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import parse_hyperparameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.spec.job import TrainingJob

HYPERPARAMETERS = click.option(
    "-p",
    "--hyperparameter",
    "hyperparameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Passed to the script as --NAME VALUE. JSON, or text.",
)
ENVIRONMENT = click.option(
    "-e",
    "--env",
    "variables",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Environment variable for the script; without a value, the one that it has here. Kept "
    "in the run's folder, so no secret.",
)
METRICS = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME=REGEX",
    help="A metric in what the script prints: 'loss=loss: ([0-9.e+-]+)'. Exactly one group, "
    "which is the value.",
)
RUNS_DIR = click.option(
    "--runs-dir",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Keep the runs here, and comparisons and other studies in 'comparisons' beside this "
    "folder. Default: with all runs.",
)
WORKING_DIR = click.option(
    "--working-dir",
    type=click.Choice(["own", "here"]),
    help="Each launch works in a folder of its own with the files of this one, and "
    "keeps there what it makes; or in this one. Default: own, and here for a single run.",
)
STEPS = click.option(
    "--steps",
    type=int,
    metavar="N",
    help="Steps of each launch. Default: all; emulated, up to 3 minutes.",
)
ROUNDS = click.option(
    "--rounds", type=int, default=3, show_default=True, metavar="N", help="Launches of each."
)
WITHIN = click.option(
    "--within",
    type=float,
    metavar="FRACTION",
    help="End as soon as every speed-up is known within this much of it (0.05: 5 % either "
    "way), at the latest after --rounds.",
)
SEED = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of every process."
)
PRICES = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="TYPE=USD[@DATE]",
    help="Price of an instance type per hour, instead of the catalog's; a spot price, say.",
)


def folders(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command both options of folders."""
    return RUNS_DIR(WORKING_DIR(command))


ARGUMENTS = click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
"""What stands behind SCRIPT and ``--``, for the script as it is."""
PRECISION = click.option(
    "--precision",
    type=click.Choice(["highest", "high", "medium", "bf16"]),
    help="Precision of matrix products under every compiler. Default: highest.",
)
DEBUG_COMPILER = click.option(
    "--debug-compiler",
    is_flag=True,
    help="Keep what compilers wrote in between, in output/data/compiler of each run.",
)
FALLBACK = click.option(
    "--fallback",
    type=click.Choice(["error", "eager"]),
    help="What a step that cannot be compiled does. Default: error.",
)


class Refusals:
    """Collects all that is wrong, so that it is said at once."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        """What is wrong so far."""

    def tried(self, make: Callable[..., Any], *arguments: Any, **values: Any) -> Any:  # noqa: ANN401  any constructor
        """Return what a constructor makes; None, and its reasons kept, when it refuses."""
        try:
            return make(*arguments, **values)
        except SpecError as error:
            self.problems.extend(error.problems)
        except (SmtcLabError, ValueError) as error:
            self.problems.append(str(error))
        return None

    def raise_if_any(self) -> None:
        """Refuse the input when something is wrong with it.

        Raises:
            SpecError: All that is wrong.
        """
        if self.problems:
            raise SpecError(list(dict.fromkeys(map(_with_option, self.problems))))


_OPTIONS = {
    "TrainingCompilerConfig.backend": "--compiler",
    "TrainingCompilerConfig.fallback": "--fallback",
    "TrainingCompilerConfig.precision": "--precision",
    "Emulation.time_dilation": "--dilation",
    "Emulation.cores_per_vcpu": "--scale",
    "Emulation.device_step_time_s": "--device-time",
    "device_time": "--device-time",
    "Emulation.link": "--link",
    "EmulatedLink.between_gbps": "--link",
    "EmulatedLink.between_latency_s": "--link",
    "EmulatedLink.inside_gbps": "--link",
    "EmulatedLink.inside_latency_s": "--link",
    "budget_usd": "--job-budget",
    "budget_usd_per_hour": "--budget",
    "deadline_s": "--deadline",
    "futures": "--futures",
    "instances": "--instances",
    "max_data_instances": "--max-data-instances",
    "max_steps": "--steps",
    "mean_time_between_s": "--mean-time-between",
    "mean_wait_s": "--mean-wait",
    "num_data_workers": "--data-workers",
    "num_loader_workers": "--loader-workers",
    "on_demand_usd_per_hour": "--on-demand-price",
    "restart_s": "--restart",
    "save_every_s": "--save-every",
    "save_s": "--save",
    "seed": "--seed",
    "spot_usd_per_hour": "--spot-price",
    "variation": "--variation",
    "work_s": "--hours",
}
"""What a command line calls a field, where it has an option for it."""


def _with_option(problem: str) -> str:
    """Return a problem with the option before it that a user has to change."""
    option = _OPTIONS.get(problem.partition("=")[0])
    command = click.get_current_context().command
    known = {name for one in command.params for name in one.opts}
    return f"{option}: {problem}" if option in known else problem


def names_in(text: str) -> list[str]:
    """Return the names that ``eager,inductor`` holds."""
    return [name.strip() for name in text.split(",") if name.strip()]


def catalog_with(texts: tuple[str, ...], refusals: Refusals) -> Catalog:
    """Return the catalog with the prices that ``--price`` gives."""
    today = datetime.now(UTC).date()
    prices = [refusals.tried(parse_price, text, today) for text in texts]
    overrides = {name: (usd, date) for name, usd, date in filter(None, prices)}
    catalog: Catalog = refusals.tried(Catalog.load().with_prices, overrides) or Catalog.load()
    return catalog


def counts_in(text: str) -> list[int]:
    """Return the numbers of devices that ``--devices`` names.

    Raises:
        SpecError: They are none.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SpecError(
            f"--devices {text[:80]!r} are no whole numbers. Write for example 1,2,4."
        ) from None


def hyperparameter_values(texts: tuple[str, ...], refusals: Refusals) -> dict[str, Any]:
    """Return the hyperparameters that ``NAME=VALUE`` texts give."""
    return dict(filter(None, (refusals.tried(parse_hyperparameter, text) for text in texts)))


def changes(job: TrainingJob, options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a job that ``-p`` and arguments change.

    Raises:
        SpecError: One cannot be read.
    """
    refusals, changed = Refusals(), {}
    if values := hyperparameter_values(options["hyperparameters"], refusals):
        changed["hyperparameters"] = {**job.hyperparameters, **values}
    refusals.raise_if_any()
    return {**changed, "arguments": options["arguments"]} if options["arguments"] else changed


def script_values(options: dict[str, Any], refusals: Refusals) -> dict[str, Any]:
    """Return what a script is given, as fields of a job."""
    pairs = (refusals.tried(_variable, text) for text in options["variables"])
    metrics = (refusals.tried(_metric_definition, text) for text in options["metrics"])
    return {
        "hyperparameters": hyperparameter_values(options["hyperparameters"], refusals),
        "arguments": options["arguments"],
        "environment": dict(filter(None, pairs)),
        "metric_definitions": tuple(filter(None, metrics)),
        "working_dir": options.get("working_dir"),  # only commands that launch have it
    }


def _variable(text: str) -> tuple[str, str]:
    """Return name and value of an environment variable.

    Raises:
        SpecError: It has no value here.
    """
    name, equals, value = text.partition("=")
    if equals:
        return name, value
    if name not in os.environ:
        raise SpecError(f"--env {text!r}: no such variable is set here. Write {text}=VALUE.")
    return name, os.environ[name]


def _metric_definition(text: str) -> dict[str, str]:
    """Return a metric definition of a job.

    Raises:
        SpecError: It has no regular expression.
    """
    name, equals, regex = text.partition("=")
    if not equals:
        raise SpecError(
            f"--metric {text[:80]!r} has no regular expression. Write for example "
            "--metric 'loss=loss: ([0-9.e+-]+)'."
        )
    return {"Name": name, "Regex": regex}


def compiler_config(options: dict[str, Any]) -> TrainingCompilerConfig:
    """Return the settings that all compilers share.

    Raises:
        SpecError: A setting is not legal.
    """
    given = {"precision": options["precision"], "fallback": options["fallback"]}
    chosen = {name: value for name, value in given.items() if value is not None}
    return TrainingCompilerConfig(debug=options["debug_compiler"], **chosen)
