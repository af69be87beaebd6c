"""``smtc-lab runs``: list, show, stop, delete and sweep runs and comparisons."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smtc_lab.cli.metric_lines import metric_lines, metric_values
from smtc_lab.cli.say import say
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.engines import ENGINES, THIS_MACHINE, is_billed, runs_here
from smtc_lab.launchers.run import Run, launcher_named
from smtc_lab.metrics.cautions.ended_early import ENDED_EARLY
from smtc_lab.metrics.cost import usd_of_run
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.run_summary import RunSummary, summarize
from smtc_lab.rules.find import find
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.views.deleting import delete_for_good, nobody_to_ask, question
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.named import thing_named
from smtc_lab.views.run_list import moment, run_rows, runs_text, state_values, took
from smtc_lab.views.text.bill import bill_words, scales_note, what_is_priced
from smtc_lab.views.text.emulated import of_run
from smtc_lab.views.text.format import plain, seconds, state_word
from smtc_lab.views.text.pipeline import pipeline_lines
from smtc_lab.views.text.script import script_words

if TYPE_CHECKING:
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.store.run_folder import RunFolder
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
@click.option(
    "-n",
    "--last",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="The newest N runs.",
)
@click.pass_context
def runs(context: click.Context, root: Path | None, last: int, *, as_json: bool) -> None:
    """List runs and comparisons, newest last; or show, stop, delete and sweep them."""
    context.obj = root  # for the commands below
    if context.invoked_subcommand is not None:
        return
    root = runs_root(root)
    rows = run_rows(root, last=last)
    if as_json:
        say(json.dumps(rows, indent=1))
    else:
        say(runs_text(rows, root=root, begin_with="'smtc-lab compare'"))


@runs.command()
@click.argument("name")
@RUNS_DIR
@_JSON
@click.option("--log", is_flag=True, help="Print what the entry points printed, too.")
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
    state, usd_per_hour = run.state, _usd_per_hour(run.folder)
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
    say(f"  evidence   {_evidence(records, run.folder)}")
    logged = metric_lines(run.metrics())
    for line in (*_summary_lines(summary), *_pipeline_lines(pipeline), *logged):
        say(f"  {line}")
    for each in find(records, usd_per_hour=usd_per_hour):
        if each.kind == ENDED_EARLY:
            say(f"  note       {each.text}")
    billed = is_billed(str(read_plan(run.folder).get("launcher", "")))
    say(
        f"  cost       {_cost(told_usd, usd_per_hour, what_is_priced(evidence), billed=billed)}"
    )
    for line in _bill_lines(summary.bill, of_run(records.job)):
        say(f"  {line}")
    say(f"  folder     {run.folder.path}")
    for event in (each for each in records.events if each.kind != "state"):
        say(f"  event      {plain(event.host or 'run')}: {plain(event.message)}")
    if log:
        say(run.logs())


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


def _say_state(run: Run) -> None:
    state = run.state
    say(f"{run.job_name}: {state_word(state.word)}")
    for line in state.reason.splitlines():
        say(f"  {line}")
    say(f"  cluster    {run.job.cluster}")
    say(f"  script     {plain(script_words(run.job))}")
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


def _evidence(records: RunRecords, folder: RunFolder) -> str:
    if evidence_of(records.job) == "measured":
        is_here = runs_here(str(read_plan(folder).get("launcher", "")))
        return "measured on this machine" if is_here else "measured"
    return f"emulated, {of_run(records.job)}"


def _usd_per_hour(folder: RunFolder) -> float | None:
    """Return the price of a run's instances at its launch; None: unknown."""
    price: float | None = read_plan(folder).get("usd_per_hour")
    return price


def _cost(
    cost_usd: float | None, usd_per_hour: float | None, priced: str, *, billed: bool | None
) -> str:
    if usd_per_hour is None:
        return (
            "none: on this machine, nothing is billed"
            if billed is False
            else "unknown, as a price is unknown"
        )
    if cost_usd is None:
        return "unknown, as there was no step"
    return f"${cost_usd:.4f} at ${usd_per_hour:g}/h, {priced}"


def _bill_lines(bill: Bill, emulation: str) -> list[str]:
    if bill.steps_s is None:
        return []
    lines = [f"of that    {bill_words(bill)}"]
    if bill.evidence == "emulated":
        lines.append(f"           {scales_note(emulation)}")
    return lines


def _pipeline_lines(times: PipelineTimes | None) -> list[str]:
    """Return how the model is cut, and what its stages do; none: it is not cut."""
    told = [] if times is None else pipeline_lines(times)
    return [f"{'' if place else 'pipeline':<11}{line}" for place, line in enumerate(told)]


def _summary_lines(summary: RunSummary) -> list[str]:
    if summary.mean_step_time_s is None or summary.data_wait_fraction is None:
        return ["steps      none measured"]
    wait = f"data wait {summary.data_wait_fraction:.0%}"
    lines = [
        f"steps      {summary.steps} measured, {summary.warm_up_steps} warm-up",
        f"step time  {summary.mean_step_time_s:.4f} s mean, {wait}",
    ]
    if summary.device_utilization is not None:
        lines.append(f"device     {summary.device_utilization:.0%} busy")
    if summary.cpu_delivered_fraction is not None:
        delivered = f"{summary.cpu_delivered_fraction:.0%} of the asked was delivered"
        lines.append(f"CPU        {delivered}")
    return lines
