"""``smtc-lab batch-size``: the largest and the fastest batch of a script, by compiler."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.say import say
from smtc_lab.cli.writable import unwritable
from smtc_lab.errors import SpecError
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.options import job_options

if TYPE_CHECKING:
    from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial

_UNITS = {"": 1, "B": 1, "MB": 10**6, "GB": 10**9, "MIB": 2**20, "GIB": 2**30}


@click.command(name="batch-size")
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option(
    "--compiler",
    default="eager",
    show_default=True,
    metavar="NAME,…",
    help="Compilers to run under: eager, inductor, xla, auto.",
)
@click.option(
    "--name",
    default="batch_size",
    show_default=True,
    help="Hyperparameter of the script that holds its batch size.",
)
@click.option(
    "--start", type=int, default=8, show_default=True, help="First batch size to try."
)
@click.option("--steps", type=int, default=10, show_default=True, help="Steps of each trial.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Memory for a trainer's data, such as 4GB or 3.5GiB. Default: what the GPU has, or "
    "90 % of the machine's free memory.",
)
@job_options.PRECISION
@job_options.DEBUG_COMPILER
@job_options.FALLBACK
@job_options.HYPERPARAMETERS
@click.option(
    "--learning-rate",
    metavar="RATE@BATCH",
    help="The learning rate that suits a batch size; others are suggested.",
)
@click.option(
    "--optimizer",
    default="AdamW",
    show_default=True,
    help="Class of the optimizer, for the learning rate's rule.",
)
@click.option("--weight-decay", type=float, help="Weight decay to shrink as the batch grows.")
@click.option(
    "--like",
    metavar="MODEL",
    help="Show the batches that SageMaker published of this model, too.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    help="Write a chart of throughput against batch size here.",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it here.")
@job_options.folders
@click.option("--quiet", is_flag=True, help="Show no trials, only the result.")
def batch_size(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Find the largest and the fastest batch of SCRIPT, for each compiler.

    Each trial is a short launch of a fresh process, which may run out of memory: the size
    doubles until one does not fit, and what lies between is bisected.

    \b
    Example:
      smtc-lab batch-size --compiler eager,inductor --memory-limit 4GB train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    values = job_options.hyperparameter_values(options["hyperparameters"], refusals)
    config = refusals.tried(job_options.compiler_config, options)
    limit = options["memory_limit"]
    limit_bytes = None if limit is None else refusals.tried(_bytes, limit)
    rate = options["learning_rate"] and refusals.tried(_rate, options["learning_rate"])
    refusals.problems += unwritable(options["json_file"], options["figure"])
    refusals.raise_if_any()
    from smtc_lab.study.batch.size import find_batch_size  # noqa: PLC0415  after all that is refused

    found = find_batch_size(
        options["script"],
        name=options["name"],
        backends=job_options.names_in(options["compiler"]),
        config=config,
        start=options["start"],
        steps=options["steps"],
        memory_limit_bytes=limit_bytes,
        hyperparameters=values,
        arguments=options["arguments"],
        working_dir=options["working_dir"],
        root=options["runs_dir"],
        on_trial=None if options["quiet"] else _say,
    )
    _show(found, rate, options)
    from smtc_lab.study.new_files import new_files_line  # noqa: PLC0415  after the runs

    names = [trial.run for each in found.backends for trial in each.trials if trial.run]
    if new_files := new_files_line(runs_root(options["runs_dir"]), names):
        say(new_files)


def _show(found: BatchSizes, rate: tuple[float, int] | None, options: dict[str, Any]) -> None:
    from smtc_lab.views.batch import sizes as view  # noqa: PLC0415  after the runs

    say(view.batch_sizes_text(found))
    if rate is not None:
        text = view.learning_rate_text(
            found,
            learning_rate=rate[0],
            batch_size=rate[1],
            optimizer=options["optimizer"],
            weight_decay=options["weight_decay"],
        )
        say(f"\n{text}")
    if options["like"]:
        say(f"\n{view.published_text(options['like'])}")
    if options["json_file"] is not None:
        options["json_file"].write_text(found.to_json() + "\n", encoding="utf-8")
        say(f"Batch sizes: {options['json_file']}")
    if options["figure"] is not None:
        view.write_batch_figure(found, options["figure"])
        say(f"Figure: {options['figure']}")


def _say(backend: str, trial: BatchTrial) -> None:
    from smtc_lab.views.batch.sizes import trial_text  # noqa: PLC0415  as above

    say(trial_text(backend, trial), err=True)


def _bytes(text: str) -> int:
    """Return the bytes that a size means."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", text.strip())
    unit = None if match is None else _UNITS.get(match[2].upper())
    if match is None or unit is None:
        raise SpecError(
            f"--memory-limit {text[:80]!r} is not a size. Write for example 4GB or 3.5GiB."
        )
    return int(float(match[1]) * unit)


def _rate(text: str) -> tuple[float, int]:
    """Return a learning rate and the batch size that it suits."""
    rate, _, batch_size = text.partition("@")
    try:
        given = float(rate), int(batch_size)
    except ValueError:
        given = 0.0, 0
    if not (0 < given[0] < math.inf and given[1] > 0):
        raise SpecError(
            f"--learning-rate {text[:80]!r} is not RATE@BATCH with both above 0. Write for "
            "example 5e-5@16."
        )
    return given
