"""``smtc-lab runs``: list, show, stop, delete and sweep runs and comparisons."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.metric_lines import metric_lines, metric_values
from smtc_lab.cli.run_lines import (
    bill_lines,
    cost_words,
    evidence_words,
    job_lines,
    pipeline_lines,
    price_of,
    summary_lines,
)
from smtc_lab.cli.run_table import table_of_runs, table_options
from smtc_lab.cli.say import say
from smtc_lab.errors import StoreError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.engines import ENGINES, THIS_MACHINE, is_billed
from smtc_lab.launchers.run import Run, launcher_named
from smtc_lab.metrics.cautions.ended_early import ENDED_EARLY
from smtc_lab.metrics.cost import usd_of_run
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.rules.find import find
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.options import job_options
from smtc_lab.views.deleting import delete_for_good, nobody_to_ask, question
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.named import thing_named
from smtc_lab.views.run_list import moment, state_values, took
from smtc_lab.views.text.bill import what_is_priced
from smtc_lab.views.text.emulated import of_run
from smtc_lab.views.text.format import plain, seconds, state_word

if TYPE_CHECKING:
    from smtc_lab.study.study_run import StudyRun

RUNS_DIR = click.option(
    "--runs-dir",
    "root",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Folder of runs; comparisons lie beside it. Default: $SMTC_LAB_HOME/runs, or the "
    "user's data folder.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@RUNS_DIR
@_JSON
@table_options
@click.pass_context
def runs(context: click.Context, /, root: Path | None, **options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """List runs and comparisons, newest last; or show, stop, delete and sweep them."""
    context.obj = root  # for the commands below
    if context.invoked_subcommand is None:
        say(table_of_runs(root, **options))


@runs.command()
@click.argument("name")
@RUNS_DIR
@_JSON
@click.option(
    "--log", is_flag=True, help="Print the end of what the entry points printed, too."
)
@click.pass_obj
def show(
    parents: Path | None, name: str, root: Path | None, *, as_json: bool, log: bool
) -> None:
    """Show one run: state, reason, steps, data waits, cost. NAME may be the begin of a name.

    Of a comparison, show where it stands, its verdict and its runs.
    """
    run = thing_named(name, root=root or parents)
    if not isinstance(run, Run):
        _show_study(run, as_json=as_json)
        return
    records = run.records()
    state, usd_per_hour = run.state, price_of(run.folder)
    summary = summarize(records, usd_per_hour=usd_per_hour)
    billed_s = state.billed_s or 0.0
    evidence = evidence_of(run.job)
    dilation = dilation_of_job(run.job)
    pipeline = pipeline_times(records.pipeline, evidence=evidence, dilation=dilation)
    told_usd = usd_of_run(
        evidence=evidence,
        whole_s=billed_s,
        steps_s=summary.bill.steps_s,
        usd_per_hour=usd_per_hour,
    )
    if as_json:
        values = {
            "job_name": run.job_name,
            "kind": "run",
            **state_values(state),
            "evidence": evidence,
            **summary.as_dict(),
            "usd_per_hour": usd_per_hour,
            "usd_per_job": told_usd,
            "metrics": metric_values(run.metrics()),
            "pipeline": None if pipeline is None else pipeline.model_dump(mode="json"),
        }
        say(json.dumps(values, indent=1))
        return
    _say_state(run)
    say(f"  evidence   {evidence_words(records, run.folder)}")
    logged = metric_lines(run.metrics())
    for line in (*summary_lines(summary), *pipeline_lines(pipeline), *logged):
        say(f"  {line}")
    for each in find(records, usd_per_hour=usd_per_hour):
        if each.kind == ENDED_EARLY:
            say(f"  note       {each.text}")
    billed = is_billed(str(read_plan(run.folder).get("launcher", "")))
    priced = what_is_priced(evidence)
    say(f"  cost       {cost_words(told_usd, usd_per_hour, priced, billed=billed)}")
    for line in bill_lines(summary.bill, of_run(records.job)):
        say(f"  {line}")
    say(f"  folder     {run.folder.path}")
    for event in (each for each in records.events if each.kind != "state"):
        say(f"  event      {plain(event.host or 'run')}: {plain(event.message)}")
    if log:
        say(run.logs())


@runs.command()
@click.argument("first")
@click.argument("second")
@RUNS_DIR
@_JSON
@click.pass_obj
def diff(
    parents: Path | None, first: str, second: str, root: Path | None, *, as_json: bool
) -> None:
    """Show in what two runs differ: job, code, packages, machine, prices, metrics."""
    from smtc_lab.study.experiments.run_diff import diff as diff_of  # noqa: PLC0415  others do without

    found = diff_of(*(_run_named(name, root or parents) for name in (first, second)))
    say(found.model_dump_json(indent=1) if as_json else str(found))


@runs.command()
@click.argument("name")
@job_options.ARGUMENTS
@job_options.HYPERPARAMETERS
@RUNS_DIR
@click.pass_obj
def again(parents: Path | None, /, name: str, root: Path | None, **given: Any) -> None:  # noqa: ANN401  options
    """Launch a run once more, with the code that it had, and wait for its end.

    ARGUMENTS take the place of all that the script had; -p changes one hyperparameter.
    """
    run = _run_named(name, root or parents)
    run = run.again(**job_options.changes(run.job, given))
    say(f"{run.job_name}: launched")
    _say_state(run.wait())


@runs.command()
@click.argument("name")
@RUNS_DIR
@click.option("--tag", "tags", multiple=True, help="All of its tags, one each. Default: as is.")
@click.option("--text", help="What to say of it. Default: as it is.")
@click.pass_obj
def note(
    parents: Path | None, name: str, root: Path | None, tags: tuple[str, ...], text: str | None
) -> None:
    """Give a run tags and a note: columns of the table, to choose and filter by."""
    from smtc_lab.study.experiments.experiment import annotate  # noqa: PLC0415  others do without

    run = _run_named(name, root or parents)
    annotate(run, tags=tags or None, note=text)
    if tags:
        say(f"{run.job_name}: tags {', '.join(tags)}, in place of others")


@runs.command()
@click.argument("name")
@RUNS_DIR
@click.pass_obj
def stop(parents: Path | None, name: str, root: Path | None) -> None:
    """Stop a run and everything that belongs to it. NAME may be the begin of a name.

    Of a comparison, stop the launch that runs, and begin no other.
    """
    thing = thing_named(name, root=root or parents).stop()
    say(f"{thing.folder.path.name}: {thing.status}. {thing.state.reason}".rstrip())


@runs.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@RUNS_DIR
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(
    parents: Path | None, names: tuple[str, ...], root: Path | None, *, yes: bool
) -> None:
    """Delete runs that have ended, for good. NAME is the whole name.

    A comparison is deleted with its launches. What goes on is stopped first: see stop.
    """
    root = root or parents
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(nobody_to_ask(names, root))
        if not click.confirm(question(names, root)):
            return
    for name in names:
        say(delete_for_good(name, root))


@runs.command()
@click.option("--stop", "end", is_flag=True, help="End what is found.")
@click.option(
    "--on",
    type=click.Choice(list(ENGINES)),
    default=THIS_MACHINE,
    show_default=True,
    help="Where to look.",
)
def sweep(*, end: bool, on: str) -> None:
    """Find what still runs of runs that are over, and with --stop end it.

    On this machine these are processes of runs in any folder; on SageMaker, training jobs of
    this user that no run of this machine follows, with their price.
    """
    leftovers = launcher_named(on).sweep(stop=end)
    for leftover in leftovers:
        pids = f" ({' '.join(map(str, leftover.pids))})" if leftover.pids else ""
        done = "ended" if end else "still there"
        say(f"{leftover.job_name}: {leftover.what}, {done}{pids}")
    if not leftovers:
        say("Nothing is left of any run.")


def _run_named(name: str, root: Path | None) -> Run:
    """Return a run.

    Raises:
        StoreError: There is none of that name, or it is of a study.
    """
    found = thing_named(name, root=root)
    if isinstance(found, Run):
        return found
    raise StoreError(
        f"{name[:80]!r} is a study. Name one of its runs: smtc-lab runs show {name}."
    )


def _say_state(run: Run) -> None:
    state = run.state
    say(f"{run.job_name}: {state_word(state.word)}")
    for line in state.reason.splitlines():
        say(f"  {line}")
    for line in job_lines(run):
        say(f"  {line}")
    lasted = took(state.started_s, state.ended_s)
    say(f"  started    {moment(state.started_s)}{lasted and f', took {lasted}'}")
    if len(state.attempts) > 1:
        say(f"  attempts   {len(state.attempts)}, {seconds(state.waited_s)} without instances")


def _show_study(study: StudyRun, *, as_json: bool) -> None:
    kind = kind_of(study)
    if not as_json:
        seen = kind.see(study.folder.path)
        say(kind.text(seen))
        for launch in seen.info.launched:
            of = (
                launch.label
                if launch.round is None
                else f"{launch.label}, round {launch.round}"
            )
            say(f"  run {launch.job_name}: {state_word(launch.state)} ({plain(of)})")
        return
    state, result = study.state, study.result_json
    if isinstance(study, ComparisonRun):  # of an earlier version, say
        comparison = study.comparison
        result = None if comparison is None else comparison.to_json().encode()
    values = {
        "job_name": study.name,
        "kind": kind.name,
        **state_values(state),
        "runs": [run.job_name for run in state.runs],
        kind.name: None if result is None else json.loads(result),
    }
    say(json.dumps(values, indent=1))
