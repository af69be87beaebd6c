"""``smtc-lab tune``: search the hyperparameters of a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.say import say
from smtc_lab.cli.tuning.usd import usd_of
from smtc_lab.cli.writable import unwritable
from smtc_lab.errors import PlannerError, SpecError, StoreError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.tuning.question import (
    HyperbandStrategyConfig,
    TuningJobCompletionCriteriaConfig,
    TuningQuestion,
    WarmStartConfig,
)
from smtc_lab.spec.tuning.ranges import parse_ranges
from smtc_lab.study.options import job_options
from smtc_lab.study.options.emulation_options import EMULATION, emulations
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.tuning.found import TuningFound


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option(
    "--range",
    "ranges",
    multiple=True,
    required=True,
    metavar="NAME=LOW..HIGH",
    help="What is searched: lr=log:1e-4..1e-1, width=16..256, kind=adam,sgd. Once for each.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    metavar="NAME[=REGEX]",
    help="The objective: a metric that the script logs, or that REGEX finds in what it prints. "
    "Further ones are kept, too.",
)
@click.option(
    "--maximize", is_flag=True, help="The greatest value is best. Default: the least."
)
@click.option(
    "--trials", type=int, default=20, show_default=True, metavar="N", help="Trials in all."
)
@click.option(
    "--parallel", type=int, default=1, show_default=True, metavar="N", help="Trials at once."
)
@click.option(
    "--budget",
    metavar="USD",
    help="Most that all trials may cost: 2usd. None begins, and none goes on, beyond it.",
)
@click.option(
    "--strategy",
    type=click.Choice(["bayesian", "random", "hyperband", "grid"]),
    default="bayesian",
    show_default=True,
    help="hyperband: random, and trials that are worse at the same number of values wait.",
)
@click.option(
    "--values",
    metavar="FEWEST..MOST",
    help="Of hyperband: values of the objective after which a trial is judged first, and at "
    "which it ends. Default: 1..27.",
)
@click.option(
    "--early-stopping", is_flag=True, help="Stop trials that are worse than half of the others."
)
@click.option(
    "--warm-start",
    "parents",
    multiple=True,
    metavar="NAME",
    help="Of bayesian: an earlier search to learn from; ranges may differ. May be repeated.",
)
@click.option("--target", type=float, metavar="VALUE", help="End when a trial is as good.")
@click.option(
    "--cluster",
    "clusters",
    default="here=local:1",
    show_default=True,
    metavar="GROUP=TYPE:COUNT,…",
    help="What each trial runs on.",
)
@job_options.STEPS
@job_options.HYPERPARAMETERS
@job_options.ENVIRONMENT
@job_options.SEED
@EMULATION
@job_options.PRICES
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it here.")
@job_options.folders
@click.option("--quiet", is_flag=True, help="Show no progress.")
def tune(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Search the hyperparameters of SCRIPT: which values train best, for how much.

    Each trial is a run of its own. A search that was stopped or killed goes on, with the same
    suggestions: 'smtc-lab runs resume NAME'.

    \b
    Example:
      smtc-lab tune --range lr=log:1e-4..1e-1 --metric loss --trials 20 train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    job, question, catalog = _given(options)
    # heavy, so after all that can be refused
    from smtc_lab.study.tuning.tuner import launch_tuning  # noqa: PLC0415
    from smtc_lab.views.progress import ProgressLine  # noqa: PLC0415

    if not options["quiet"]:
        say(_expected(job, question, options["runs_dir"]))
    study = launch_tuning(job, question, root=options["runs_dir"], catalog=catalog)
    with ProgressLine(quiet=options["quiet"]) as line:
        found = study.wait(progress=line.show)
    _show(found, options)


def _given(options: dict[str, Any]) -> tuple[TrainingJob, TuningQuestion, Catalog]:
    """Return what the options describe, or refuse all that is wrong at once."""
    refusals = job_options.Refusals()
    catalog = job_options.catalog_with(options["prices"], refusals)
    ranges = refusals.tried(parse_ranges, options["ranges"])
    objective = options["metrics"][0].partition("=")[0]
    # a name alone is logged by the script
    options = {**options, "metrics": tuple(one for one in options["metrics"] if "=" in one)}
    cluster = refusals.tried(Cluster.parse, options["clusters"])
    clusters = [] if cluster is None else [cluster]
    emulated = emulations(options, clusters, catalog, refusals)
    values = job_options.script_values(options, refusals)
    budget = options["budget"] and refusals.tried(usd_of, options["budget"])
    halving = options["values"] and refusals.tried(_values, options["values"])
    is_hyperband = options["strategy"] == "hyperband"
    if is_hyperband and not halving:
        halving = HyperbandStrategyConfig()
    target = options["target"]
    question = ranges and refusals.tried(
        TuningQuestion,
        objective_metric_name=objective,
        objective_type="Maximize" if options["maximize"] else "Minimize",
        hyperparameter_ranges=ranges,
        strategy=options["strategy"].capitalize(),
        strategy_config=halving or None,
        max_jobs=options["trials"],
        max_parallel_jobs=options["parallel"],
        budget_usd=budget or None,
        early_stopping_type="Auto" if options["early_stopping"] else "Off",
        completion_criteria_config=None
        if target is None
        else TuningJobCompletionCriteriaConfig(target_objective_metric_value=target),
        warm_start_config=WarmStartConfig(
            warm_start_type="TransferLearning", parents=options["parents"]
        )
        if options["parents"]
        else None,
        random_seed=options["seed"],
    )
    job = refusals.tried(
        TrainingJob,
        entry_point=str(options["script"]),
        cluster=cluster,
        emulation=emulated[0] if emulated else None,
        seed=options["seed"],
        max_steps=options["steps"],
        **values,
    )
    refusals.problems += unwritable(options["json_file"])
    refusals.raise_if_any()
    return job, question, catalog


def _expected(job: TrainingJob, question: TuningQuestion, root: Path | None) -> str:
    """Return what the search will cost, as far as it is known."""
    from smtc_lab.planner.tuning.expected import expected_tuning_cost  # noqa: PLC0415  heavy

    trials = fmt.count(question.num_trials, "trial")
    try:
        cost = expected_tuning_cost(job, question, root=root)
    except (PlannerError, StoreError):
        return f"{trials}; what one costs is known when the first has ended."
    rungs = "".join(
        f" {fmt.usd(rung.usd)} for {rung.trials} to {fmt.count(rung.values, 'value')};"
        for rung in cost.rungs
    )
    return (
        f"{trials}, about {fmt.usd(cost.usd)} in all, estimated by {cost.run}, which cost "
        f"{fmt.usd(cost.usd_of_run)}.{rungs.rstrip(';')}"
    )


def _values(text: str) -> HyperbandStrategyConfig:
    fewest, dots, most = text.partition("..")
    if not (dots and fewest.isdecimal() and most.isdecimal()):
        raise SpecError(f"--values {text[:40]!r} is not FEWEST..MOST. Write for example 1..27.")
    return HyperbandStrategyConfig(min_resource=int(fewest), max_resource=int(most))


def _show(found: TuningFound, options: dict[str, Any]) -> None:
    from smtc_lab.views.tuning.text import tuning_text  # noqa: PLC0415  after the runs

    say(tuning_text(found))
    if options["json_file"] is not None:
        options["json_file"].write_text(found.to_json() + "\n", encoding="utf-8")
        say(f"Tuning: {options['json_file']}")
